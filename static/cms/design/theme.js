// Applies a chosen theme immediately. It is stored in the account, and in a cookie for the login page.

const YEAR_SECONDS = 31_536_000;
const forms = document.querySelectorAll("[data-theme-choice]");

function show(theme) {
  document.documentElement.dataset.theme = theme;
  for (const form of forms) {
    for (const button of form.querySelectorAll("[name=theme]")) button.setAttribute("aria-pressed", String(button.value === theme));
  }
  document.cookie = `admin_theme=${theme}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
}

async function save(form, theme) {
  const { announce, request } = await import("../http.js");
  const body = new FormData(form);
  body.set("theme", theme);
  await request(form.action, { body, headers: { Accept: "application/json" } }).catch(() => announce(form.dataset.failed));
}

for (const form of forms) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const theme = event.submitter.value;
    show(theme);
    if (form.hasAttribute("action")) save(form, theme);
  });
}
