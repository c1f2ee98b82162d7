// Elements consist of text nodes and attributes only, so that text from clients never becomes
// markup.

const SVG = "http://www.w3.org/2000/svg";

// Control characters and characters that change the direction of text can disguise a path or a
// name.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const dispatch = (event) => event.currentTarget.handlers[event.type](event);

function make(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "key") node.key = String(value);
    else if (typeof value === "function") (node.handlers ??= {})[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const type of Object.keys(node.handlers ?? {})) node.addEventListener(type, dispatch);
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child instanceof Node) node.append(child);
    else if (child !== undefined && child !== null && child !== false && child !== "") node.append(String(child).replace(hidden, "\ufffd"));
  }
}

// h returns an HTML element. A property that is a function handles the event of that name. key
// identifies an element among its siblings across updates.
export const h = (tag, props, ...children) => make(document.createElement(tag), props, children);

// s returns an SVG element.
export const s = (tag, props, ...children) => make(document.createElementNS(SVG, tag), props, children);

// update replaces the children of a live element. It changes only what differs, so that focus,
// selection, scroll position and open details are preserved.
export function update(live, ...children) {
  const focused = document.activeElement;
  const fresh = live.cloneNode(false);
  append(fresh, children);
  patchChildren(live, fresh);
  if (focused !== document.activeElement && focused?.isConnected && live.contains(focused)) focused.focus({ preventScroll: true });
}

const matches = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && a.key === b.key;

function patch(live, fresh) {
  if (live.nodeType !== Node.ELEMENT_NODE) {
    if (live.nodeValue !== fresh.nodeValue) live.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...live.attributes]) {
    // The reader opens and closes details.
    if (!fresh.hasAttribute(name) && !(name === "open" && live.nodeName === "DETAILS")) live.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (name === "open" && live.nodeName === "DETAILS") continue;
    if (live.getAttribute(name) !== value) live.setAttribute(name, value);
  }
  for (const type of Object.keys(fresh.handlers ?? {})) {
    if (!live.handlers?.[type]) live.addEventListener(type, dispatch);
  }
  for (const type of Object.keys(live.handlers ?? {})) {
    if (!fresh.handlers?.[type]) live.removeEventListener(type, dispatch);
  }
  live.handlers = fresh.handlers;
  const value = live.nodeName === "SELECT" ? fresh.value : undefined;
  patchChildren(live, fresh);
  if (value !== undefined && live.value !== value) live.value = value;
  // Does not overwrite the focused field, and fields that keep the reader's input.
  if (live.nodeName === "INPUT" && !live.hasAttribute("data-typed") && live !== document.activeElement && live.value !== fresh.value) live.value = fresh.value;
}

function patchChildren(live, fresh) {
  const keyed = new Map();
  for (const child of live.childNodes) if (child.key !== undefined) keyed.set(child.key, child);
  let cursor = live.firstChild;
  for (const child of [...fresh.childNodes]) {
    let match = child.key === undefined ? cursor : keyed.get(child.key);
    while (child.key === undefined && match && match.key !== undefined) match = match.nextSibling;
    if (!match || !matches(match, child)) {
      live.insertBefore(child, cursor);
      continue;
    }
    if (match === cursor) cursor = cursor.nextSibling;
    else live.insertBefore(match, cursor);
    patch(match, child);
  }
  while (cursor) {
    const next = cursor.nextSibling;
    cursor.remove();
    cursor = next;
  }
}
