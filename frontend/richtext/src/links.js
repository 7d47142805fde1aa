// Checks which addresses rich text may contain. The server checks again (proofroom/definitions/richtext/links.py).

const MOST = 2048;
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\s/u;
const ENCODED = { " ": "%20", '"': "%22", "<": "%3C", ">": "%3E", "`": "%60", "|": "%7C" };

function schemeAllowed(scheme, rest) {
  if (scheme === "http" || scheme === "https") return /^\/\/[^/?#\s]/.test(rest);
  return (scheme === "mailto" || scheme === "tel") && rest !== "";
}

function isSafe(address) {
  if (!address || address.includes("\\") || address.startsWith("//") || FORBIDDEN.test(address)) return false;
  if (!address.split(/[/?#]/, 1)[0].includes(":")) return true;
  const at = address.indexOf(":");
  return schemeAllowed(address.slice(0, at).toLowerCase(), address.slice(at + 1));
}

function unescaped(address) {
  return new DOMParser().parseFromString(`<!doctype html><title>${address.replace(/</g, "&lt;")}`, "text/html").title;
}

/** Return the address in the form that is stored, or null if it is not allowed. */
export function safeHref(value) {
  if (typeof value !== "string" || value.length > MOST) return null;
  const address = value.replace(/^ +| +$/g, "");
  // Entities are decoded as well, since they could hide a forbidden scheme.
  if (!isSafe(address) || (address.includes("&") && !isSafe(unescaped(address)))) return null;
  return address.replace(/[ "<>`|]/g, (char) => ENCODED[char]);
}

/** Return the address of an image in the form that is stored, or null if it is not allowed. */
export function safeSrc(value) {
  const address = safeHref(value);
  if (address === null || address.startsWith("#") || /^(mailto|tel):/i.test(address)) return null;
  return address;
}
