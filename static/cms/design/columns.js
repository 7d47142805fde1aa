// The menu of columns: buttons move a column in the list immediately, and "Apply" sends the form. Without this script,
// each button sends the form.

import { attachEach } from "../http.js";

attachEach("[data-columns]", (form) => {
  const list = form.querySelector("ol");

  function drawEnds() {
    const items = [...list.children];
    items.forEach((item, at) => {
      item.querySelector("[data-move='-1']").disabled = at === 0;
      item.querySelector("[data-move='1']").disabled = at === items.length - 1;
    });
  }

  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (!button) return;
    event.preventDefault();
    const item = button.closest("li");
    if (button.dataset.move === "-1") item.previousElementSibling?.before(item);
    else item.nextElementSibling?.after(item);
    drawEnds();
    (button.disabled ? item.querySelector("[data-move]:enabled") : button)?.focus();
  });
});
