// Buttons such as "Tomorrow 9:00" that fill in a time.

export function startSuggestedTimes(scope, input) {
  const list = scope.querySelector("[data-suggested]");
  if (!list) return;
  list.hidden = false;
  list.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-at]");
    if (!button) return;
    input.value = button.dataset.at;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  });
}
