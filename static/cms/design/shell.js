// The frame: the width of the navigation, which a cookie tells the server, and menus that close as menus do.

const YEAR_SECONDS = 31_536_000;
const shell = document.querySelector("[data-shell]");

for (const button of document.querySelectorAll("[data-collapse-nav]")) {
  button.addEventListener("click", () => {
    const isCollapsed = shell.classList.toggle("shell-collapsed");
    button.setAttribute("aria-expanded", String(!isCollapsed));
    document.cookie = `admin_navigation=${isCollapsed ? "icons" : "wide"}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  });
}

const openMenus = () => document.querySelectorAll("details[data-menu][open]");

document.addEventListener("click", (event) => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
    event.preventDefault();
  }
});
