// Tells the server the time zone of the browser, for users who have not chosen one in their account.

const YEAR_SECONDS = 31_536_000;
const root = document.documentElement;

function follow(zone) {
  const stored = document.cookie.match(/(?:^|; )admin_time_zone=([^;]*)/)?.[1];
  if (stored === encodeURIComponent(zone)) return;
  document.cookie = `admin_time_zone=${encodeURIComponent(zone)}; path=/admin/; max-age=${YEAR_SECONDS}; samesite=lax`;
  // Once, before anything is typed, because this page shows other times. Never without cookies.
  const isStored = document.cookie.includes("admin_time_zone=");
  if (root.dataset.zoneFollows === "reload" && isStored && differs(root.dataset.timeZone, zone)) location.reload();
}

// Zones with different names can have the same time, such as UTC and Etc/UTC.
function differs(shown, zone) {
  const now = new Date();
  const [here, there] = [shown, zone].map((timeZone) => now.toLocaleString("en", { timeZone }));
  return here !== there;
}

if ("zoneFollows" in root.dataset) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (timeZone) follow(timeZone);
}
