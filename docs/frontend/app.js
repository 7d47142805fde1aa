// Reads the delivery API: a menu, and the page or the list at a path.
import { richText } from "./richtext.js";

const query = new URLSearchParams(location.search);
const cms = query.get("cms") ?? document.documentElement.dataset.cms;
const locale = document.documentElement.dataset.locale;
const main = document.querySelector("main");

/** Returns the answer of the CMS. Throws an error with the message of the CMS. */
async function read(path, parameters) {
  const address = new URL(path, cms);
  address.search = new URLSearchParams(parameters);
  const answer = await fetch(address);
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error), { status: answer.status });
  return body;
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

/** Makes a link to a page of this frontend, or to another site. */
function link(url, ...children) {
  const made = element("a", ...children);
  made.href = url;
  if (url.startsWith("/")) {
    const here = new URLSearchParams(query);
    here.set("path", url);
    made.href = `?${here}`;
  }
  return made;
}

function menuList(items) {
  const entries = items.map((item) =>
    element("li", link(item.url, item.label), ...(item.children.length ? [menuList(item.children)] : [])),
  );
  return element("ul", ...entries);
}

async function showMenu() {
  const menu = await read("/api/menus/by-slug/main", { locale });
  document.querySelector("nav").replaceChildren(menuList(menu.items));
}

/** Shows a page of a list: its posts in the order of the site, and links to the pages before and after it. */
function showList(list) {
  const entries = list.posts.map((post) =>
    element("li", element("h2", link(post.url, post.title)), element("p", post.excerpt)),
  );
  const pages = [];
  if (list.page > 1) pages.push(link(`${list.url}?page=${list.page - 1}`, "Newer"));
  if (list.page < list.lastPage) pages.push(link(`${list.url}?page=${list.page + 1}`, "Older"));
  document.title = list.title;
  document.documentElement.lang = list.locale;
  main.replaceChildren(element("h1", list.title), element("ul", ...entries), element("p", ...pages));
}

/** Renders each type of module; others are left out. Overrides replace shared props. */
const modules = {
  prose: (props) => richText(props.content, link),
  faq: (props) =>
    props.items.map((item) => element("details", element("summary", item.question), ...richText(item.answer, link))),
};

async function showPath(path) {
  const found = await read("/api/public/resolve", { path });
  if (found.type === "redirect") {
    location.replace(link(found.redirect.toPath));
    return;
  }
  if (found.type === "list") {
    showList(found);
    return;
  }
  const { post } = found;
  document.title = post.metaTitle ?? post.title;
  document.documentElement.lang = post.locale;
  const parts = post.modules.map((module) => {
    const part = element("div", ...(modules[module.type]?.({ ...module.props, ...module.overrides }) ?? []));
    part.dataset.postModuleId = module.postModuleId;
    part.dataset.moduleInstanceId = module.moduleInstanceId;
    return part;
  });
  document.body.dataset.postId = post.id;
  main.replaceChildren(element("article", element("h1", post.title), ...parts));
}

async function show() {
  try {
    await showPath(query.get("path") ?? "/blog");
  } catch (error) {
    main.replaceChildren(element("h1", error.status === 404 ? "Not found" : "Error"), element("p", error.message));
  }
}

/** Starts to count views and clicks. The page already names its post. */
function count() {
  const script = element("script");
  script.type = "module";
  script.src = new URL("/static/cms/track.js", cms);
  document.body.append(script);
}

await Promise.all([showMenu().catch(() => {}), show()]);
count();
