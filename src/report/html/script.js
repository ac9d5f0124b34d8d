"use strict";
document.documentElement.classList.add("scripted");
const form = document.querySelector("form");
const entries = [...document.querySelectorAll("[data-status]")].map((element) => ({
  element,
  status: element.dataset.status,
  level: element.dataset.level,
  suite: element.dataset.suite,
  text: element.textContent.toLowerCase(),
}));
function filter() {
  const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const { status, level, suite } = Object.fromEntries(["status", "level", "suite"].map((name) => [name, form[name].value]));
  let shown = 0;
  for (const entry of entries) {
    const fits = (!status || entry.status === status) && (!level || entry.level === level) &&
      (!suite || entry.suite === suite) && words.every((word) => entry.text.includes(word));
    entry.element.hidden = !fits;
    shown += fits && entry.element.tagName === "TR" ? 1 : 0;
  }
  document.querySelector("#shown").textContent = `${shown} results`;
}
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("keydown", (event) => {
  if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    form.text.focus();
  }
});
addEventListener("beforeprint", () => document.querySelectorAll("details.rule").forEach((rule) => { rule.open = true; }));
filter();
