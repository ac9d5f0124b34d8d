const searched = (element) => ({ element, text: element.textContent.toLowerCase() });
const entries = [...document.querySelectorAll("[data-status]")].map((element) => ({ ...searched(element), ...element.dataset }));
const messages = [...document.querySelectorAll(".messages tbody tr")].map(searched);
const results = entries.filter((entry) => entry.element.tagName === "TR").length;
// What is read stays in sight when what is before it is hidden or unfolded.
function filter() {
  const below = () => Math.max(form.getBoundingClientRect().bottom, 0);
  const read = [...document.querySelectorAll("section")].find((each) => each.getBoundingClientRect().bottom > below());
  const before = read?.getBoundingClientRect().top;
  const root = document.documentElement;
  // The browser would move it, too.
  root.style.overflowAnchor = "none";
  choose();
  if (read && !read.hidden && before <= below() + innerHeight / 2 && scrollY > 0) {
    const { top, bottom } = read.getBoundingClientRect();
    const is_past = before + bottom - top < below() + 100;
    scrollBy(0, top - (is_past ? below() : before));
  }
  requestAnimationFrame(() => { root.style.overflowAnchor = ""; });
}
function choose() {
  const wanted = words();
  const has = (entry) => wanted.every((word) => entry.text.includes(word));
  const { status, level, suite } = Object.fromEntries(["status", "level", "suite"].map((name) => [name, form[name].value]));
  let shown = 0;
  for (const entry of entries) {
    const fits = (!status || entry.status === status) && (!level || entry.level === level) &&
      (!suite || entry.suite === suite) && has(entry);
    entry.element.hidden = !fits;
    shown += fits && entry.element.tagName === "TR" ? 1 : 0;
  }
  for (const message of messages) message.element.hidden = !has(message);
  document.querySelectorAll("section.rules").forEach((section) => {
    section.hidden = !section.querySelector("[data-status]:not([hidden])");
  });
  document.querySelectorAll("[data-folded]").forEach((folded) => {
    folded.open = wanted.length > 0 || level !== "" || suite !== "" || status === folded.dataset.folded;
  });
  const parts = wanted.length || status || level || suite ? [`${shown} of ${results} results`] : [];
  if (wanted.length && messages.length) {
    parts.push(`${messages.filter((message) => !message.element.hidden).length} of ${messages.length} messages`);
  }
  document.querySelector("#shown").textContent = parts.join(" · ");
}
// A count in the header leads to its rules, whatever the filter has hidden before.
document.querySelectorAll("[data-pick]").forEach((count) => count.addEventListener("click", () => {
  form.reset();
  form.status.value = count.dataset.pick;
  filter();
  // The address may be the same as before, which is no change of it.
  if (location.hash === count.hash) reveal();
}));
// What a link leads to is unfolded before the browser goes there, and a message is opened.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target.closest(".messages")) {
    target.hidden = false;
    target.querySelectorAll("details").forEach((body) => { body.open = true; });
  }
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => document.querySelectorAll("details.rule").forEach((rule) => { rule.open = true; }));
filter();
reveal();
