// The posts, files and other objects whose pages this browser opened last.

const KEY = "admin-recent";
const MAX_PAGES = 6;

/** Return them as `{label, url}`, the last first. */
export function recentPages() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return found.filter((one) => typeof one?.url === "string" && one.url.startsWith("/admin/") && typeof one.label === "string");
  } catch {
    return [];
  }
}

/** Remember this page where it is that of an object; lists are in the navigation anyway. */
export function rememberPage() {
  if (!/^\/admin\/.+\/change\/$/.test(location.pathname)) return;
  const label = document.title.split(" | ")[0].trim();
  const others = recentPages().filter((one) => one.url !== location.pathname);
  try {
    localStorage.setItem(KEY, JSON.stringify([{ label, url: location.pathname }, ...others].slice(0, MAX_PAGES)));
  } catch { /* a browser that stores nothing has no recent pages */ }
}
