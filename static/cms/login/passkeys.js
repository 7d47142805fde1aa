// Creates and uses passkeys. A form with `data-passkey` is sent with the response of the authenticator.

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const decodeIds = (keys) => (keys ?? []).map((key) => ({ ...key, id: decode(key.id) }));

// A security key that cannot store a passkey still works as a second factor, so a resident key is only preferred.
const create = (options) =>
  navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: decodeIds(options.excludeCredentials),
      authenticatorSelection: {
        ...options.authenticatorSelection,
        residentKey: "preferred",
        requireResidentKey: false,
      },
    },
  });

const use = (options) =>
  navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: decode(options.challenge),
      allowCredentials: decodeIds(options.allowCredentials),
    },
  });

const readOptions = async (form) => {
  if (form.dataset.options) {
    const answer = await fetch(form.dataset.options, { headers: { Accept: "application/json" } });
    return (await answer.json()).request_options.publicKey;
  }
  const given = JSON.parse(document.querySelector("#passkey-options").textContent);
  return (given.creation_options ?? given.request_options).publicKey;
};

const PARTS = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"];

const ask = async (form) => {
  const options = await readOptions(form);
  const key = await (form.dataset.passkey === "create" ? create(options) : use(options));
  const response = Object.fromEntries(
    PARTS.filter((part) => key.response[part]).map((part) => [part, encode(key.response[part])]),
  );
  form.querySelector("[name=credential]").value = JSON.stringify({
    type: key.type,
    id: key.id,
    rawId: key.id,
    response,
    authenticatorAttachment: key.authenticatorAttachment,
    clientExtensionResults: key.getClientExtensionResults(),
  });
  form.submit();
};

// Browsers do not allow passkeys at an IP address, and without HTTPS only at localhost.
const { hostname } = window.location;
const isNumber = /^\[|^[\d.]+$/.test(hostname);
const isSupported = Boolean(window.PublicKeyCredential);
const isRefused = isNumber || !window.isSecureContext;
const isLoopback = /^127\.|^\[::1\]$/.test(hostname);

const localhostLink = (words) => {
  const address = new URL(window.location.href);
  address.hostname = "localhost";
  const link = document.createElement("a");
  link.href = address.href;
  link.textContent = words.replace("{address}", address.origin);
  return link;
};

const refuse = (error) => {
  error.textContent = isRefused ? error.dataset.refused : error.dataset.unsupported;
  if (isRefused && isLoopback) error.append(" ", localhostLink(error.dataset.elsewhere));
  error.hidden = false;
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const error = form.querySelector("[data-passkey-error]");
  const start = form.querySelector("[data-passkey-start]");
  const isUsable = isSupported && !isRefused;
  // If passkeys cannot work, the login page does not offer them. At a loopback address it links to localhost instead.
  if (isUsable || isLoopback) form.hidden = false;
  if (!isUsable && form.dataset.passkey === "create") {
    start.disabled = true;
    refuse(error);
  }
  start.addEventListener("click", async () => {
    error.hidden = true;
    if (!isUsable) {
      refuse(error);
      return;
    }
    try {
      await ask(form);
    } catch {
      // For privacy, browsers do not reveal whether the user cancelled, has no passkey, or the request timed out.
      error.textContent = error.dataset.failed;
      error.hidden = false;
    }
  });
}
