// Offers the time zone of this device if a different one is selected.

const zones = document.querySelector("#id_time_zone");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const button = document.querySelector("template[data-device-zone]").content.firstElementChild.cloneNode(true);

const update = () => { button.hidden = zones.value === zone; };

if ([...zones.options].some((option) => option.value === zone)) {
  button.textContent = button.dataset.words.replace("{zone}", zone.replaceAll("_", " "));
  button.addEventListener("click", () => {
    zones.value = zone;
    update();
    zones.focus();
  });
  zones.addEventListener("change", update);
  zones.after(button);
  update();
}
