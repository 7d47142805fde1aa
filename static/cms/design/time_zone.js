// Tells the server the time zone of the browser, for users who have not chosen one in their account.

const YEAR_SECONDS = 31_536_000;
const root = document.documentElement;

function follow(zone) {
  const stored = document.cookie.match(/(?:^|; )admin_time_zone=([^;]*)/)?.[1];
  if (stored === encodeURIComponent(zone)) return;
  document.cookie = `admin_time_zone=${encodeURIComponent(zone)}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  // Once, before anything is typed: this page shows times, and reads them, in another zone. Without cookies, never.
  const isStored = document.cookie.includes("admin_time_zone=");
  if (root.dataset.zoneFollows === "reload" && root.dataset.timeZone !== zone && isStored) location.reload();
}

if ("zoneFollows" in root.dataset) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (timeZone) follow(timeZone);
}
