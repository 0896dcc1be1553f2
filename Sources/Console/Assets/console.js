// The console without this file is complete: every view is a link, every act a form. This adds comfort.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const language = document.documentElement.lang || undefined;

// Theme: the visitor's choice is kept only while it differs from the system's.
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const kept = (value) => {
  try {
    if (value === undefined) return localStorage.getItem("theme");
    if (value === null) localStorage.removeItem("theme");
    else localStorage.setItem("theme", value);
  } catch { /* storage may be forbidden: the choice then lasts as long as the page */ }
  return value;
};
const showTheme = (theme) => {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const dark = theme ? theme === "dark" : systemDark.matches;
  for (const button of all("[data-theme-toggle]")) {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(dark));
  }
};
const chosen = kept();
showTheme(chosen === "dark" || chosen === "light" ? chosen : null);
systemDark.addEventListener("change", () => showTheme(document.documentElement.dataset.theme ?? null));

// Times: relative in the page's language, exact with its zone in the title.
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });
const units = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const showTimes = (root = document) => {
  for (const element of all("time[datetime][data-relative]", root)) {
    const time = Date.parse(element.dateTime);
    if (Number.isNaN(time)) continue;
    const seconds = Math.round((time - Date.now()) / 1000);
    const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1);
    const text = relative.format(Math.trunc(seconds / size), unit);
    if (element.textContent !== text) element.textContent = text;
    element.title = exact.format(time);
  }
};
showTimes();
setInterval(() => {
  if (!document.hidden && !held(document.body, true)) showTimes();
}, 20_000);

// Live regions: the same URL again, and the elements with data-live replaced by their namesakes.
const due = new Map();
let paused = false, fetching = false, leaving = false, pressed = false, lost = false, timer;

/// Whether the visitor is at work inside: focus (unless only a selection is asked for), selected text, a pressed pointer.
function held(element, selectionOnly = false) {
  const selection = getSelection();
  if (selection && !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(element)) return true;
  return !selectionOnly && (pressed || element.contains(document.activeElement));
}
const period = (element) => Math.max(2, Number(element.dataset.live) || 5) * 1000;
const regions = () => all("[data-live][id]");

const say = (isLost) => {
  if (isLost === lost) return;
  lost = isLost;
  for (const state of all("[data-live-state]")) state.textContent = isLost ? state.dataset.lost ?? "" : "";
};

const replace = (old, page) => {
  const found = page.getElementById(old.id);
  if (!found) return old.removeAttribute("data-live");
  const fresh = document.importNode(found, true);
  for (const details of all("details[id]", old)) {
    const same = all("details[id]", fresh).find((other) => other.id === details.id);
    if (same) same.open = details.open;
  }
  const offsets = all(".scroll", old).map((box) => box.scrollLeft);
  showTimes(fresh);
  old.replaceWith(fresh);
  all(".scroll", fresh).forEach((box, index) => { if (offsets[index]) box.scrollLeft = offsets[index]; });
};

const refresh = async () => {
  fetching = true;
  try {
    const answer = await fetch(location.href, {
      headers: { Accept: "text/html" }, credentials: "same-origin", cache: "no-store", redirect: "manual",
      signal: AbortSignal.timeout(15_000),
    });
    if (leaving) return;
    if (answer.type === "opaqueredirect" || answer.status === 401) {
      leaving = true;
      return location.reload();
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (leaving || paused) return;
    for (const region of regions()) if (!held(region)) replace(region, page);
    say(false);
  } catch {
    if (!leaving) say(true);
  } finally {
    fetching = false;
    const now = Date.now();
    // After a fault: slower, so that a gateway that comes back is not met by every open console at once.
    for (const region of regions()) due.set(region.id, now + period(region) * (lost ? 2 + Math.random() : 1));
    plan();
  }
};

function plan() {
  clearTimeout(timer);
  const waiting = regions();
  if (paused || fetching || leaving || document.hidden || waiting.length === 0) return;
  const now = Date.now();
  for (const region of waiting) if (!due.has(region.id)) due.set(region.id, now + period(region));
  const next = Math.min(...waiting.map((region) => due.get(region.id)));
  timer = setTimeout(() => {
    const isDue = (region) => due.get(region.id) <= Date.now() && !held(region);
    if (regions().some(isDue)) return refresh();
    for (const region of regions()) if (due.get(region.id) <= Date.now()) due.set(region.id, Date.now() + 1000);
    plan();
  }, Math.max(0, next - now));
}
addEventListener("visibilitychange", plan);
addEventListener("pointerdown", () => { pressed = true; });
for (const end of ["pointerup", "pointercancel", "blur"]) addEventListener(end, () => { pressed = false; });
if (regions().length > 0) for (const button of all("[data-live-toggle]")) button.hidden = false;
plan();

addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-theme-toggle], [data-live-toggle]") : null;
  if (!button) return;
  if (button.matches("[data-live-toggle]")) {
    paused = !paused;
    for (const other of all("[data-live-toggle]")) other.setAttribute("aria-pressed", String(paused));
    return plan();
  }
  const dark = button.getAttribute("aria-pressed") !== "true";
  const theme = dark === systemDark.matches ? null : dark ? "dark" : "light";
  kept(theme);
  showTheme(theme);
});

// "/" leads to the search field. The field asks for it (data-shortcut), so that it can be left out.
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  const target = event.target;
  if (target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))) return;
  const field = document.querySelector("input[data-shortcut='/']");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// Nothing is sent twice. The button is disabled after the browser has taken its name and value.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || (event.submitter?.formMethod || form.method) !== "post") return;
  if ("sent" in form.dataset) return event.preventDefault();
  form.dataset.sent = "";
  leaving = true;
  setTimeout(() => {
    for (const button of form.elements) if (button.type === "submit" && !button.disabled) {
      button.disabled = true;
      button.dataset.sent = "";
    }
  });
});
addEventListener("pageshow", () => {
  leaving = false;
  for (const element of all("[data-sent]")) {
    element.removeAttribute("data-sent");
    if ("disabled" in element) element.disabled = false;
  }
  plan();
});

// Where the browser does not know autofocus on a summary of errors.
document.querySelector(".errors[autofocus]")?.focus();

// What takes long says what it waits for. An upload shows how far it has come.
addEventListener("submit", (event) => {
  const form = event.target;
  const state = form.querySelector("[data-wait-state]");
  if (!state || event.defaultPrevented) return;
  if (form.dataset.wait) state.textContent = form.dataset.wait;
  if (!("upload" in form.dataset)) return;
  event.preventDefault();
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", form.dataset.upload);
  state.replaceChildren(form.dataset.upload, bar);
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (now) => { if (now.lengthComputable) bar.value = now.loaded / now.total; });
  request.addEventListener("load", () => {
    if (request.status === 200 && request.responseURL !== form.action) return location.assign(request.responseURL);
    const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
    if (!main) return location.reload();
    document.querySelector("main").replaceWith(document.importNode(main, true));
    leaving = false;
    document.querySelector("main .errors")?.focus();
  });
  request.addEventListener("error", () => form.submit());
  request.open("POST", form.action);
  request.responseType = "text";
  request.send(new FormData(form));
});
