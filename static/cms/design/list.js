// Lists: the box that selects every row, ranges with Shift, the count in the bar, and names of columns beside the cells of
// a phone.

const form = document.querySelector("[data-list]");
const table = form?.querySelector("#result_list");
const boxes = [...(table?.querySelectorAll("input.action-select") ?? [])];
const every = table?.querySelector("#action-toggle");
const count = form?.querySelector("[data-selected]");
const across = form?.querySelector("[data-across]");
const acrossButton = form?.querySelector("[data-select-across]");
let last = null;
let isRange = false;

function show() {
  const number = boxes.filter((box) => box.checked).length;
  for (const box of boxes) box.closest("tr").classList.toggle("selected", box.checked);
  if (every) {
    every.checked = number > 0 && number === boxes.length;
    every.indeterminate = number > 0 && number < boxes.length;
  }
  if (!count) return;
  if (number < boxes.length) across.value = "0";
  const isAcross = across.value === "1";
  count.textContent = isAcross ? acrossButton.dataset.all
    : number === 1 ? count.dataset.one : count.dataset.many.replace("{number}", number);
  if (acrossButton) acrossButton.hidden = isAcross || number < boxes.length;
}

function select(box) {
  const [from, to] = [boxes.indexOf(isRange && last ? last : box), boxes.indexOf(box)].sort((one, other) => one - other);
  for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
  last = box;
  show();
}

if (boxes.length) {
  table.addEventListener("click", (event) => { isRange = event.shiftKey; }, true);
  table.addEventListener("change", ({ target }) => {
    if (target === every) {
      for (const box of boxes) box.checked = every.checked;
      show();
    } else if (boxes.includes(target)) select(target);
  });
  acrossButton?.addEventListener("click", () => {
    across.value = "1";
    show();
  });
  // A browser that goes back keeps what was ticked.
  addEventListener("pageshow", show);
  show();
}

const names = [...(table?.tHead?.rows[0]?.cells ?? [])].map((cell) =>
  cell.classList.contains("action-checkbox-column") ? "" : (cell.querySelector("a")?.firstChild ?? cell.firstChild)?.textContent.trim() ?? "",
);
for (const row of table?.tBodies[0]?.rows ?? []) {
  [...row.cells].forEach((cell, place) => {
    if (cell.tagName === "TD" && names[place]) cell.dataset.label = names[place];
  });
}
