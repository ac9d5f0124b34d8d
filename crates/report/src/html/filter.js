"use strict";
// What the pages have in common: a form that shows and hides, by `filter` of the page.
document.documentElement.classList.add("scripted");
const form = document.querySelector("form");
const words = () => form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
form.addEventListener("input", () => filter());
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    form.text.focus();
  }
});
