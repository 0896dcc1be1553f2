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
    const text = relative.format(Math.round(seconds / size), unit);
    if (element.textContent !== text) element.textContent = text;
    element.title = exact.format(time);
  }
};
showTimes();
for (const element of all("[data-zone-here]")) {
  const named = new Intl.DateTimeFormat(language, { timeZoneName: "longOffset" }).formatToParts().find((part) => part.type === "timeZoneName");
  element.textContent = element.dataset.zoneHere.replace("%1", `${Intl.DateTimeFormat().resolvedOptions().timeZone} (${named?.value ?? "UTC"})`);
  element.hidden = false;
}
setInterval(() => {
  if (!document.hidden && !held(document.body, true)) showTimes();
}, 20_000);

// Live regions: the same URL again, or the one that the page names, and the elements with data-live replaced by their
// namesakes.
const due = new Map();
let paused = false, fetching = false, leaving = false, pressed = false, lost = false, timer;

/// Whether the visitor is at work inside: selected text; unless only that is asked for, focus, a pressed pointer, or what
/// was typed in and not sent.
function held(element, selectionOnly = false) {
  const selection = getSelection();
  if (selection && !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(element)) return true;
  if (selectionOnly) return false;
  return pressed || element.contains(document.activeElement)
    || all("input:not([type=hidden]), textarea", element).some((field) => field.value !== field.defaultValue);
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
    const answer = await fetch(document.querySelector("main").dataset.liveFrom ?? location.href, {
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

// Compose: the form is complete without this. Here: the preview, the check while one types, the audience as blocks.
const compose = (form) => {
  const field = (name) => {
    const found = form.elements.namedItem(name);
    return found instanceof RadioNodeList ? found[0] : found;
  };
  const value = (name) => form.elements.namedItem(name)?.value.trim() ?? "";
  const later = (wait, act) => {
    let timer;
    return () => { clearTimeout(timer); timer = setTimeout(act, wait); };
  };
  const fill = (text, ...parts) => parts.reduce((sentence, part, index) => sentence.replace(`%${index + 1}`, part), text ?? "");
  for (const element of all("[data-scripted]")) element.hidden = false;

  // Languages: their names come from the browser, in the page's language.
  const names = new Intl.DisplayNames(language, { type: "language" });
  const nameOf = (code) => {
    try { return names.of(code); } catch { return code; }
  };
  const groups = (of) => all(`[data-repeat=${of}]`, form);
  const texts = () => groups("texts").map((group) => {
    const part = (name) => value(`${name}.${group.dataset.number}`);
    return { language: part("lang"), title: part("title"), subtitle: part("subtitle"), body: part("body") };
  });
  const setOptions = (select, options) => {
    const old = select.value;
    if (select.options.length === options.length && options.every(([key, label], at) => select.options[at].value === key && select.options[at].text === label)) return;
    select.replaceChildren(...options.map(([key, label]) => new Option(label, key)));
    select.value = options.some(([key]) => key === old) ? old : options[0]?.[0] ?? "";
  };
  // Groups that repeat: the server adds an empty one; with the script it comes when it is asked for.
  const isEmpty = (group) => all("input, textarea", group).every((element) => !element.value.trim());
  const spare = new Map();
  const limit = () => {
    for (const button of all("[data-add-to]", form)) button.disabled = groups(button.dataset.addTo).length >= Number(button.dataset.most ?? 100);
  };
  for (const button of all("[data-add-to]", form)) {
    const of = button.dataset.addTo, last = groups(of).at(-1);
    spare.set(of, last.cloneNode(true));
    if (groups(of).length > 1 && isEmpty(last)) last.remove();
  }
  limit();
  const addGroup = (of) => {
    const last = groups(of).at(-1), number = Math.max(...groups(of).map((group) => Number(group.dataset.number))) + 1;
    const fresh = spare.get(of).cloneNode(true);
    fresh.dataset.number = number;
    for (const error of all(".error", fresh)) error.remove();
    for (const element of all("[name], [for]", fresh)) {
      for (const attribute of ["name", "id", "for"]) {
        const old = element.getAttribute(attribute);
        if (old) element.setAttribute(attribute, old.replace(/\d+/, number));
      }
      element.removeAttribute("aria-describedby");
      element.removeAttribute("aria-invalid");
      if ("value" in element) element.value = "";
    }
    last.after(fresh);
    limit();
    fresh.querySelector("[name]").focus();
    show();
  };

  // The preview: only texts are replaced, and what is empty is hidden.
  const preview = document.getElementById("preview");
  const pick = (name) => preview?.querySelector(`[data-pick=${name}]`);
  // `{{first_name|there}}` shows its default; `\{{` is no placeholder (docs/texts.md).
  const withDefaults = (text) => text.replace(/(?<!\\)\{\{[^|{}]+\|([^{}]*)\}\}/g, "$1").replace(/\\(?=\\?\{\{)/g, "");
  const host = (address) => {
    try { return new URL(address).host; } catch { return address; }
  };
  const show = () => {
    const written = texts();
    const head = (group, words) => {
      const legend = group.querySelector("legend");
      legend.textContent = words || legend.dataset.empty;
    };
    for (const [at, group] of groups("texts").entries()) head(group, written[at].language && nameOf(written[at].language));
    const variants = groups("variant").map((group) => [group.dataset.number, value(`variant.${group.dataset.number}.name`)]);
    for (const [at, group] of groups("variant").entries()) head(group, variants[at][1]);
    const codes = [...new Set(written.slice(1).map((text) => text.language).filter(Boolean))];
    if (!preview) return;
    const languagePicker = pick("language");
    setOptions(languagePicker, [["", languagePicker.dataset.none], ...codes.map((code) => [code, nameOf(code)])]);
    languagePicker.parentElement.hidden = codes.length === 0;
    const variantPicker = pick("variant"), named = variants.filter(([, name]) => name);
    setOptions(variantPicker, [["", variantPicker.dataset.none], ...named]);
    variantPicker.parentElement.hidden = named.length === 0;

    const own = written[0];
    const chosen = languagePicker.value && written.find((text) => text.language === languagePicker.value) || own;
    const part = (name) => {
      const varied = variantPicker.value && value(`variant.${variantPicker.value}.${name}`);
      // A variant replaces the message's own words; words written for a language stay (docs/campaigns.md).
      return withDefaults(chosen === own ? varied || own[name] : chosen[name] || varied || own[name]);
    };
    const shown = { title: part("title"), subtitle: part("subtitle"), body: part("body"), image: value("image") && host(value("image")) };
    for (const at of [0, 1, 2]) shown[`button.${at}`] = value(`button.${at}.title`);
    for (const slot of all("[data-show]", preview)) {
      const text = shown[slot.dataset.show] ?? "";
      if (slot.dataset.empty !== undefined) slot.toggleAttribute("data-blank", !text);
      else slot.hidden = !text;
      if (slot.dataset.fixed === undefined) slot.textContent = text || (slot.dataset.empty ?? "");
    }
    for (const note of all(".note", preview)) note.lang = chosen.language;
  };

  // The check: the server counts, looks at each provider's request and finds faults; its parts are replaced by id.
  const status = document.querySelector("[data-check-state]");
  const say = (text) => { if (status.textContent !== (text ?? "")) status.textContent = text ?? ""; };
  const contents = () => {
    const data = new URLSearchParams(new FormData(form));
    data.delete("test_list");
    return data.toString();
  };
  const left = new Set(all("[aria-invalid=true]", form).map((element) => element.name));
  const kept = new Map();
  // What a refused page shows was not counted.
  let asking, asked = "unsaved" in form.dataset ? "" : contents();

  const setError = (element, text) => {
    let error = document.getElementById(`${element.id}-error`);
    if (!text) {
      if (!error) return;
      error.remove();
      element.removeAttribute("aria-invalid");
    } else {
      if (!error) {
        error = document.createElement("span");
        error.className = "error";
        error.id = `${element.id}-error`;
        element.before(error);
      }
      if (error.textContent !== text) error.textContent = text;
      element.setAttribute("aria-invalid", "true");
    }
    const words = (element.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== error.id);
    if (text) words.push(error.id);
    if (words.length) element.setAttribute("aria-describedby", words.join(" "));
    else element.removeAttribute("aria-describedby");
  };
  const showErrors = () => {
    const faults = new Map(all("#checks [data-field]").map((item) => [item.dataset.field, item.textContent.trim()]));
    for (const element of form.elements) {
      if (!element.name || !element.id || (element === at && gap)) continue;
      const fault = faults.get(element.name);
      if (!fault) setError(element, null);
      else if (left.has(element.name) && element !== document.activeElement) setError(element, fault);
    }
  };
  const place = () => {
    for (const [id, page] of kept) {
      const old = document.getElementById(id);
      if (old && held(old)) continue;
      kept.delete(id);
      if (old && page.getElementById(id)) replace(old, page);
    }
    showErrors();
  };
  const check = async () => {
    const body = contents();
    asking?.abort();
    if (body === asked) return;
    const mine = asking = new AbortController();
    const slow = setTimeout(() => say(status.dataset.busy), 1000);
    try {
      const answer = await fetch(form.dataset.check, {
        method: "POST", body: new URLSearchParams(body), headers: { Accept: "text/html" }, credentials: "same-origin", redirect: "manual",
        signal: AbortSignal.any?.([mine.signal, AbortSignal.timeout(15_000)]) ?? mine.signal,
      });
      if (answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403) return say(status.dataset.ended);
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine.signal.aborted) return;
      asked = body;
      for (const region of all("[data-checked][id]")) kept.set(region.id, page);
      place();
      say("");
    } catch {
      if (!mine.signal.aborted) say(status.dataset.lost);
    } finally {
      clearTimeout(slow);
    }
  };
  const checkSoon = later(600, check);
  for (const end of ["focusout", "pointerup"]) addEventListener(end, () => setTimeout(() => { if (kept.size) place(); }));

  // The audience as blocks. The expression is what is sent; the blocks write it, and read it if they can show it.
  const builder = form.querySelector("[data-builder]");
  const expression = field("audience");
  const keywords = ["and", "or", "not", "everyone"];
  const keys = ["provider", "platform", "lang", "tz", "app_version", "seen", "auth", "activity", "audience"];
  const quoted = (text) => `"${text.replace(/["\\]/g, "\\$&")}"`;
  const unquoted = (text) => text.slice(1, -1).replace(/\\(["\\])/g, "$1");
  const plain = /^(?:[a-z0-9_\-./+@#$%~:]|(?![\0-\x7f])[\p{L}\p{M}\p{N}\p{Sm}\p{Sc}\p{So}])+$/iu;
  const isTag = (text) => plain.test(text) && !/^:|:$/.test(text) && !keywords.includes(text.toLowerCase())
    && !(text.includes(":") && keys.includes(text.split(":")[0].toLowerCase()));

  const write = ({ kind, sign, value }) => {
    if (kind === "everyone") return kind;
    if (kind === "tag") {
      if (/.:\*$/u.test(value)) return isTag(`${value.slice(0, -1)}x`) ? value : `${quoted(value.slice(0, -2))}:*`;
      return isTag(value) ? value : quoted(value);  // an empty one is a fault, never a wider audience
    }
    if (kind === "seen") return `seen:${sign}${value}${/^\d+$/.test(value) ? "d" : ""}`;
    if (sign) return `${kind}:${sign}${plain.test(value) ? value : quoted(value)}`;
    return `${kind}:${value === "" || value === "*" || plain.test(value) ? value : quoted(value)}`;
  };

  const cut = (text) => {
    const token = /\s*(?:([()!]|&&|\|\|)|("(?:[^"\\]|\\["\\])*")(:\*)?(?=[\s)&|]|$)|([^\s()&|"!]+)("(?:[^"\\]|\\["\\])*")?(?=[\s()&|]|$))/uy;
    const tokens = [];
    while (text.slice(token.lastIndex).trim()) {
      const match = token.exec(text);
      if (!match) throw new SyntaxError();
      const [, sign, quote, star, word, behind] = match;
      const operator = sign ?? (behind ? undefined : { and: "&&", AND: "&&", or: "||", OR: "||", not: "!", NOT: "!" }[word]);
      tokens.push(operator ? { operator } : { term: quote ? readQuoted(unquoted(quote), star) : readWord(word, behind) });
    }
    return tokens;
  };
  const readQuoted = (text, star) => {
    if (!star && /.:\*$/u.test(text)) throw new SyntaxError();  // a tag with a literal `*`: the blocks would mean any value
    return { kind: "tag", sign: "", value: text + (star ?? "") };
  };
  const readWord = (word, behind) => {
    if (word === "everyone") return { kind: word, sign: "", value: "" };
    const colon = word.indexOf(":"), key = word.slice(0, colon);
    if (!keys.includes(key)) {
      const tag = behind ? word + unquoted(behind) : word;
      if (behind ? !word.endsWith(":") || /:\*$/.test(tag) : !isTag(word.replace(/(.:)\*$/u, "$1x"))) throw new SyntaxError();
      return { kind: "tag", sign: "", value: tag };
    }
    if (behind) {
      if (colon !== word.length - 1 || unquoted(behind) === "*") throw new SyntaxError();
      return { kind: key, sign: "", value: unquoted(behind) };
    }
    const [, sign, rest] = /^([<>]=?|=)?(.*)$/su.exec(word.slice(colon + 1));
    if (sign && key !== "app_version" && key !== "seen") throw new SyntaxError();
    if (key !== "seen") return { kind: key, sign: sign ?? "", value: rest };
    if (!/^[<>]$/.test(sign ?? "") || !/^(\d+d)?$/.test(rest)) throw new SyntaxError();
    return { kind: key, sign, value: rest.slice(0, -1) };
  };
  /// A tree of `{ join, items }`, `{ not }` and terms.
  const read = (text) => {
    const tokens = cut(text);
    let at = 0;
    const take = (operator) => tokens[at]?.operator === operator && Boolean(++at);
    const joined = (join, part) => {
      const items = [part()];
      while (take(join)) items.push(part());
      return items.length > 1 ? { join, items } : items[0];
    };
    const operand = () => {
      if (take("!")) return { not: operand() };
      if (take("(")) {
        const inner = either();
        if (!take(")")) throw new SyntaxError();
        return inner;
      }
      if (!tokens[at]?.term) throw new SyntaxError();
      return tokens[at++].term;
    };
    const either = () => joined("||", () => joined("&&", operand));
    const tree = either();
    if (at < tokens.length) throw new SyntaxError();
    return tree;
  };
  /// What the blocks show: one level of groups, `not` once.
  const blocksOf = (text) => {
    if (!text.trim()) return { join: "&&", items: [] };
    const item = (node, depth) => {
      const not = Boolean(node.not), inner = node.not ?? node;
      if (inner.not || (inner.join && depth > 0)) throw new SyntaxError();
      return inner.join ? { not, join: inner.join, items: inner.items.map((each) => item(each, depth + 1)) } : { not, ...inner };
    };
    const tree = read(text);
    return tree.join ? { join: tree.join, items: tree.items.map((each) => item(each, 0)) } : { join: "&&", items: [item(tree, 0)] };
  };

  const build = () => {
    const list = builder.querySelector("[data-blocks]");
    const join = builder.querySelector("[data-join]");
    const byHand = builder.querySelector("[data-by-hand]");
    const editor = builder.querySelector("[data-editor]");
    const within = (element, selector) => element.querySelector(`:scope > ${selector}`);
    const template = (name) => builder.querySelector(`template[data-of=${name}]`).content.firstElementChild.cloneNode(true);

    const dress = (block) => {
      const kind = block.querySelector("[data-kind]").value;
      for (const element of all("[data-for]", block)) element.hidden = element.dataset.for !== kind;
      const input = block.querySelector("[data-value]");
      input.hidden = kind === "everyone";
      input.inputMode = kind === "seen" ? "numeric" : "";
      input.setAttribute("list", `values-${kind}`);
    };
    const makeBlock = ({ kind = "tag", sign = "", value = "", not = false } = {}) => {
      const item = template("block");
      item.querySelector("[data-kind]").value = kind;
      item.querySelector("[data-not]").value = not ? "!" : "";
      for (const select of all("[data-sign]", item)) if (select.dataset.for === kind) select.value = sign;
      item.querySelector("[data-value]").value = value;
      dress(item);
      return item;
    };
    const makeGroup = ({ join, not, items }) => {
      const item = template("group");
      item.querySelector("[data-join]").value = join;
      item.querySelector("[data-not]").value = not ? "!" : "";
      item.querySelector("[data-blocks]").append(...items.map(makeBlock));
      return item;
    };
    const number = () => {
      for (const [at, legend] of all("legend[data-text]", list).entries()) legend.textContent = fill(legend.dataset.text, at + 1);
      join.parentElement.hidden = list.children.length < 2;
    };
    const expressionOf = (items, operator, depth) => {
      const parts = [...items.children].map((item) => {
        const not = item.querySelector("[data-not]").value;
        const inner = item.querySelector("[data-blocks]");
        if (inner) {
          const text = expressionOf(inner, item.querySelector("[data-join]").value);
          return not + (inner.children.length > 1 ? `(${text})` : text);
        }
        const kind = item.querySelector("[data-kind]").value;
        const sign = all("[data-sign]", item).find((select) => select.dataset.for === kind)?.value ?? "";
        return not + write({ kind, sign, value: item.querySelector("[data-value]").value.trim() });
      });
      return parts.join(` ${operator} `);
    };
    const writeAll = () => {
      number();
      expression.value = expressionOf(list, join.value);
      expression.dispatchEvent(new Event("input", { bubbles: true }));
    };
    let writing = false;
    const changed = () => { writing = true; writeAll(); writing = false; };
    const readAll = () => {
      let shown = null;
      try { shown = blocksOf(expression.value); } catch (error) { if (!(error instanceof SyntaxError)) throw error; }
      editor.hidden = shown === null;
      const words = shown === null ? byHand.dataset.byHand : "";
      if (byHand.textContent !== words) byHand.textContent = words;
      if (!shown) return;
      join.value = shown.join;
      list.replaceChildren(...shown.items.map((item) => item.items ? makeGroup(item) : makeBlock(item)));
      number();
    };
    const readSoon = later(400, readAll);
    expression.addEventListener("input", () => { if (!writing) readSoon(); });

    builder.addEventListener("input", (event) => {
      if (event.target.matches("[data-kind]")) {
        const block = event.target.closest("li");
        block.querySelector("[data-value]").value = "";
        dress(block);
      }
      changed();
      if (event.target.matches("[data-value]")) suggestSoon();
    });
    builder.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.matches("[data-add]")) {
        const target = button.closest("li")?.querySelector("[data-blocks]") ?? list;
        const item = button.dataset.add === "group" ? makeGroup({ join: "||", not: false, items: [{}, {}] }) : makeBlock();
        target.append(item);
        changed();
        item.querySelector("[data-kind], [data-not]").focus();
      } else if (button.matches("[data-remove]")) {
        let item = button.closest("li");
        // A group without conditions goes with its last one.
        const group = item.parentElement.closest("li");
        if (group && item.parentElement.children.length === 1) item = group;
        const neighbour = item.nextElementSibling ?? item.previousElementSibling;
        item.remove();
        changed();
        (neighbour?.querySelector("[data-remove]") ?? within(editor, ".actions").querySelector("[data-add]")).focus();
      }
    });

    // Tags that begin as what is written.
    const tags = document.getElementById("values-tag");
    let suggesting, suggested;
    const suggest = async () => {
      const input = document.activeElement;
      if (!input?.matches?.("[data-builder] [data-value]") || input.getAttribute("list") !== "values-tag") return;
      const prefix = input.value.trim();
      if (prefix === suggested) return;
      suggesting?.abort();
      suggesting = new AbortController();
      try {
        const answer = await fetch(`${builder.dataset.tags}?prefix=${encodeURIComponent(prefix)}`, {
          headers: { Accept: "application/json" }, credentials: "same-origin", redirect: "error", signal: suggesting.signal,
        });
        if (!answer.ok) return;
        const { items } = await answer.json();
        const count = new Intl.NumberFormat(language);
        tags.replaceChildren(...items.map(({ tag, devices }) => {
          const option = new Option("", tag);
          option.label = fill(tags.dataset.text, count.format(devices));
          return option;
        }));
        suggested = prefix;
      } catch { /* without suggestions one writes the tag */ }
    };
    const suggestSoon = later(200, suggest);
    builder.addEventListener("focusin", suggestSoon);
    readAll();
  };
  if (builder && expression) build();

  // A moment for all is in the zone of whoever writes it: what somebody wrote elsewhere is shown as the clock is here.
  let gap = false;
  const at = field("at"), zone = document.getElementById("at-hint");
  const two = (number) => String(Math.abs(Math.trunc(number))).padStart(2, "0");
  const clock = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
  const setZone = () => {
    if (!at.value) return;
    const date = new Date(at.value), minutes = -date.getTimezoneOffset();
    const offset = `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
    field("offset").value = offset;
    if (zone) zone.textContent = fill(at.dataset.zone, `${Intl.DateTimeFormat().resolvedOptions().timeZone} (UTC${offset})`);
    // An hour that the change to summer time leaves out.
    gap = value("time") === "at" && clock(date) !== at.value.slice(0, 16);
    setError(at, gap ? at.dataset.lost : null);
  };
  if (at?.value && value("time") === "at") {
    const moment = new Date(at.value + field("offset").value);
    if (!Number.isNaN(moment.getTime())) at.value = clock(moment);
    setZone();
  }
  at?.addEventListener("input", setZone);

  // What is written is not lost by a wrong key.
  const untouched = contents();
  let leaving = false;
  form.addEventListener("submit", () => { leaving = true; asking?.abort(); });
  addEventListener("pageshow", () => { leaving = false; });
  addEventListener("beforeunload", (event) => {
    if (!leaving && ("unsaved" in form.dataset || contents() !== untouched)) event.preventDefault();
  });

  form.addEventListener("input", () => { show(); checkSoon(); });
  form.addEventListener("change", () => { show(); checkSoon(); });
  form.addEventListener("focusout", (event) => {
    const name = event.target.closest?.("[data-builder]") ? "audience" : event.target.name;
    if (!name) return;
    left.add(name);
    setTimeout(showErrors);
  });
  preview?.addEventListener("change", show);
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-add-to]");
    if (button) addGroup(button.dataset.addTo);
  });
  show();
};
const composeForm = document.getElementById("compose");
if (composeForm) compose(composeForm);

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
  const { most, tooLarge, busy, lost } = form.dataset;
  // Says why, and lets the form be sent again: behind the listener above, which disables its buttons.
  const fail = (text) => {
    state.replaceChildren(text);
    state.classList.add("error");
    leaving = false;
    setTimeout(() => {
      form.removeAttribute("data-sent");
      for (const button of all("[data-sent]", form)) {
        button.removeAttribute("data-sent");
        button.disabled = false;
      }
    });
  };
  state.classList.remove("error");
  if (all("input[type=file]", form).some((input) => [...input.files].some((file) => file.size > Number(most)))) return fail(tooLarge);
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", form.dataset.upload);
  state.replaceChildren(form.dataset.upload, bar);
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (now) => { if (now.lengthComputable) bar.value = now.loaded / now.total; });
  request.addEventListener("load", () => {
    if (request.status === 200 && request.responseURL !== form.action) return location.assign(request.responseURL);
    const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
    if (!main) return fail(request.status === 413 ? tooLarge : [429, 503].includes(request.status) ? busy : lost);
    document.querySelector("main").replaceWith(document.importNode(main, true));
    leaving = false;
    document.querySelector("main .errors")?.focus();
  });
  request.addEventListener("error", () => fail(lost));
  request.open("POST", form.action);
  request.responseType = "text";
  request.send(new FormData(form));
});
