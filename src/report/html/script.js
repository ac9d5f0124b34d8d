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
  document.querySelectorAll("[data-folded]").forEach((folded) => {
    folded.open = wanted.length > 0 || level !== "" || suite !== "" || status === folded.dataset.folded;
  });
  document.querySelector("#shown").textContent = `${shown} results`;
}
// A count in the header chooses its rules.
document.querySelectorAll("[data-pick]").forEach((count) => count.addEventListener("click", () => {
  form.status.value = count.dataset.pick;
  filter();
}));
// What a link leads to is unfolded before the browser goes there.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => document.querySelectorAll("details.rule").forEach((rule) => { rule.open = true; }));
filter();
reveal();
