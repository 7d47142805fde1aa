// Creates and uses passkeys. A form with `data-passkey` is sent with what the authenticator of the browser answers.

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const decodeIds = (keys) => (keys ?? []).map((key) => ({ ...key, id: decode(key.id) }));

// A key that has no room for a passkey of its own still serves as the second factor.
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

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  const error = form.querySelector("[data-passkey-error]");
  form.querySelector("[data-passkey-start]").addEventListener("click", async () => {
    error.hidden = true;
    try {
      await ask(form);
    } catch {
      // The browser tells nobody why: cancelled, unknown, timed out.
      error.textContent = form.dataset.failed;
      error.hidden = false;
    }
  });
}
