// Loads the staff-only script. Visitors load only this file.

const own = document.querySelector("script[data-pins]");
if (own && document.body.dataset.postId && /(?:^|; )cms_staff=1/.test(document.cookie)) {
  import(own.dataset.pins).then((pins) => pins.start(own.dataset.pinsStyle)).catch(() => {});
}
