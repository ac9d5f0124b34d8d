const entries = [...document.querySelectorAll("[data-status]")].map((element) => ({
  element,
  status: element.dataset.status,
  level: element.dataset.level,
  suite: element.dataset.suite,
  text: element.textContent.toLowerCase(),
}));
function filter() {
  const wanted = words();
  const { status, level, suite } = Object.fromEntries(["status", "level", "suite"].map((name) => [name, form[name].value]));
  let shown = 0;
  for (const entry of entries) {
    const fits = (!status || entry.status === status) && (!level || entry.level === level) &&
      (!suite || entry.suite === suite) && wanted.every((word) => entry.text.includes(word));
    entry.element.hidden = !fits;
    shown += fits && entry.element.tagName === "TR" ? 1 : 0;
  }
  document.querySelector("#shown").textContent = `${shown} results`;
}
addEventListener("beforeprint", () => document.querySelectorAll("details.rule").forEach((rule) => { rule.open = true; }));
filter();
