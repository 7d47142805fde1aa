// Shows the number of selected hits of find and replace on the buttons, and selects all or none of a post.

const form = document.querySelector("[data-choose-hits]");
if (form) start(form);

function start(form) {
  const boxes = [...form.querySelectorAll("input[type=checkbox]:not(:disabled)")];

  function show() {
    const chosen = boxes.filter((box) => box.checked);
    const number = chosen.reduce((sum, box) => sum + Number(box.dataset.standsFor ?? 1), 0);
    for (const place of form.querySelectorAll("[data-count]")) {
      place.textContent = `(${number})`;
      place.closest("button").disabled = !number;
    }
    for (const button of form.querySelectorAll("[data-toggle-group]")) {
      const own = boxesOf(button);
      button.hidden = own.length < 2;
      button.textContent = own.some((box) => box.checked) ? button.dataset.none : button.dataset.all;
    }
  }

  const boxesOf = (button) => boxes.filter((box) => button.closest("[data-group]").contains(box));

  form.addEventListener("change", show);
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-toggle-group]");
    if (!button) return;
    const own = boxesOf(button);
    const isOn = !own.some((box) => box.checked);
    for (const box of own) box.checked = isOn;
    show();
  });
  window.addEventListener("pageshow", show);
  show();
}
