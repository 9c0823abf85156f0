// Making elements. Text always goes through text nodes and attributes, never through markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, text] of Object.entries(value)) node.style.setProperty(name, text);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const titled = (text) => svg("title", null, text);

// Calls `draw` at most once per frame.
function onFrame(draw) {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; draw(); });
  };
}

const cut = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
// A long name of a thread keeps its beginning and its end, where its number stands.
const cutName = (name, length) => name.length > length ? `${name.slice(0, Math.ceil((length - 1) / 2))}…${name.slice(-Math.floor((length - 1) / 2))}` : name;
const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const showValue = (value) => value === null || value === undefined ? "?" : typeof value === "string" ? JSON.stringify(value) : String(value);

// Quiet hues that keep their distance from red, which means a violation here, in both colour schemes.
const HUES = [212, 160, 42, 282, 188, 90, 318, 250];
const threadColor = (index) => `hsl(${HUES[index % HUES.length]} ${index < HUES.length ? 42 : 26}% 52%)`;

function copyButton(text) {
  const button = el("button", {
    class: "copy", type: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = el("textarea", { style: { position: "fixed", opacity: "0" } });
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
        button.focus();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    },
  }, "Copy");
  return button;
}
