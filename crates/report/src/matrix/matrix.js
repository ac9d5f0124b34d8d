const body = document.querySelector(".matrix tbody");
const rows = [...body.rows];
const told = new Map([...document.querySelectorAll("details[data-server]")].map((each) => [each.dataset.server, each]));
function filter() {
  const wanted = words();
  let shown = 0;
  for (const row of rows) {
    const details = told.get(row.dataset.server);
    const text = `${row.cells[0].textContent} ${details?.textContent ?? ""}`.toLowerCase();
    const fits = (!form.standing.value || row.cells[1].textContent === form.standing.value) &&
      wanted.every((word) => text.includes(word));
    row.hidden = !fits;
    if (details) details.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  document.querySelector("#shown").textContent = `${shown} of ${rows.length} servers`;
}
const weights = { fail: 4e9, known: 3e9, broken: 2e9, warn: 1e9 };
function weight(cell) {
  return (weights[cell.className] ?? 0) + (Number(cell.textContent) || 0);
}
function sort(heading) {
  const column = heading.cellIndex;
  const descending = heading.ariaSort ? heading.ariaSort === "ascending" : column > 1;
  document.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  heading.ariaSort = descending ? "descending" : "ascending";
  const compare = column > 1
    ? (a, b) => weight(a.cells[column]) - weight(b.cells[column])
    : (a, b) => a.cells[column].textContent.localeCompare(b.cells[column].textContent);
  body.append(...[...rows].sort((a, b) => (descending ? compare(b, a) : compare(a, b))));
}
for (const heading of document.querySelectorAll(".matrix thead th")) {
  const button = document.createElement("button");
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sort(heading));
  heading.append(button);
}
function unfold() {
  const details = document.querySelector(`${location.hash || "#none"}`)?.closest("details");
  if (details) {
    details.open = true;
    details.scrollIntoView();
  }
}
addEventListener("hashchange", unfold);
filter();
unfold();
