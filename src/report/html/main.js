// The page: what was checked, and the finding one looks at.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

function holdsWords(property) {
  if (!property.monitorable) return "no finite run can violate it";
  if (property.kind === "schedule") return property.message || "no schedule failed";
  if (property.findings) return "nothing was found in the observed run";
  if (property.kind === "mttl" && !property.complete) return "in what is known of your run";
  if (property.kind === "within" || property.kind === "mttl") return "in your run";
  if (!property.complete) return "in all orders that were explored";
  const runs = {
    sync: "in every run in which reads see the writes they saw and what conflicts keeps its order (sync)",
    values: "in every run in which reads return the values they returned (values)",
  }[property.order] || "in every order that keeps conflicting accesses and lock operations as recorded";
  return property.wider ? `${runs}; wider orders were not explored to the end: ${property.wider}` : runs;
}

// What one run could show: how many runs there were, what kept events where they were, what would show more.
function roomWords(property) {
  const { pinned } = property;
  return [holdsWords(property), property.runs && property.monitorable && `explored: ${exploredWords(property)}`,
    pinned && `pinned by data: ${pinned.reads} of ${pinned.of_reads} reads of shared variables and ${pinned.sections} of ${pinned.of_sections} sections of shared locks`,
    property.widen && `to see more: ${property.widen}`].filter(Boolean).join(". ");
}

function blockEntry(block) {
  const verdict = block.causally_atomic === null ? "unknown" : block.causally_atomic ? "holds" : "violated";
  return {
    name: block.name || `${block.thread_name || `thread ${block.thread}`}, block ${block.block}`, verdict,
    chip: { unknown: "unknown", holds: "atomic", violated: "not atomic" }[verdict], what: block.loc,
    muted: block.suppressed || block.known,
    open: verdict === "violated" ? () => blockFinding(block, data.sources) : null,
  };
}

// Of a decentralised property also the event: it may stand here several times, once for each violation.
function violatedWords(property) {
  if (isSchedule(property)) return `under ${property.found_by === "first" ? "the ordinary" : "another"} schedule, ${property.switches} ${property.switches === 1 ? "switch" : "switches"}`;
  if (property.what) return property.what;
  if (property.sides && property.kind in TITLES) return `${foundTitle(property)}: ${property.sides.map((side) => side.loc).join(", ")}`;
  const event = property.sides ? property.sides[0] : property.first && property.first.event;
  return [property.text, event && stepWords(event)].filter(Boolean).join(": ");
}

// What explore found: a schedule, which is known by what it shows.
const isSchedule = (property) => property.kind === "schedule" && Boolean(property.stretches);

// Each violation that a built-in check found is an entry of its own, with its sides in a list.
function violations(property) {
  if (!property.findings || !property.findings.length) return [property];
  const waiting = ({ wants, holds, ...side }) => ({ ...side, object: wants, locks: holds });
  return property.findings.map(({ first, second, cycle, ...found }) => ({
    ...property, ...found, sides: cycle ? cycle.map(waiting) : [first, second].filter(Boolean),
  }));
}

// Where several results were put together: which of them it was in.
const originWords = (property) => data.results.length > 1 ? [...new Set((property.origins || []).map((origin) => (origin.program || []).join(" ") || origin.file))].filter(Boolean) : [];

function propertyEntry(property) {
  const [origin] = property.origins || [];
  const file = origin && origin.file || data.name, program = origin ? origin.program : data.result.program;
  return {
    name: property.verdict !== "violated" ? property.name : isSchedule(property) ? capital(property.what) : titleOf(property), verdict: property.verdict, chip: property.verdict === "violated" ? property.how || "violated" : property.verdict,
    where: originWords(property).join(", "),
    what: property.verdict === "violated" ? violatedWords(property) : property.verdict === "holds" ? roomWords(property) : property.message || "",
    muted: property.suppressed || property.known,
    open: property.verdict !== "violated" ? null : isSchedule(property) ? () => scheduleFinding(property, data.sources, program) : () => propertyFinding(property, data.sources, file, program),
  };
}

// A model has blocks, a run properties; a run whose marked blocks were looked at has both.
function entries() {
  return [...(data.result ? data.result.properties.flatMap(violations).map(propertyEntry) : []), ...(data.blocks || []).map(blockEntry)];
}

const all = entries();
const bad = all.filter((entry) => entry.verdict === "violated");
document.getElementById("origin").textContent = !data.result ? data.origin
  : data.result.explore ? `${(data.result.program || []).join(" ")}: ${plural(data.result.explore.runs, "run")}, ${plural(data.result.explore.distinct, "schedule")}`
  : data.results.length > 1 ? `${data.results.length} results of ${[...new Set(data.results.map(({ trace, program }) => program.join(" ") || trace))].join(", ")}`
  : [(data.result.program || []).join(" ") || data.result.trace, data.result.events && `${plural(data.result.events, "event")}, ${plural(data.result.threads, "thread")}`].filter(Boolean).join(": ");
document.title = bad.length ? `${bad[0].name}${bad.length > 1 ? ` and ${bad.length - 1} more` : ""} · Portent` : "Portent report";

const holder = el("div");
let current = null;
function select(entry, buttons) {
  current = entry.open();
  holder.replaceChildren(current.element);
  buttons.forEach(([button, owner]) => button.setAttribute("aria-current", owner === entry));
  current.draw();
}

const buttons = [];
function listItem(entry) {
  const inside = [el("span", { class: `chip ${entry.verdict}` }, entry.chip), el("span", { class: "name" }, entry.name),
    entry.muted && el("span", { class: "chip" }, "suppressed"), el("span", { class: "what" }, cut(entry.what || "", 90), entry.where && el("span", { class: "where" }, cut(entry.where, 60)))];
  if (!entry.open) return el("li", null, el("div", { class: "plain" }, inside));
  const button = el("button", { type: "button", onclick: () => select(entry, buttons) }, inside);
  buttons.push([button, entry]);
  return el("li", null, button);
}

// Where there are many, those that have the words one looks for.
function findingList() {
  const MOST = 400, MANY = 20;
  const list = el("ul", { class: all.length > MANY ? "list long" : "list" }), more = el("p", { class: "note" });
  function fillIn(words) {
    const found = all.filter((entry) => words.every((word) => `${entry.name} ${entry.chip} ${entry.what || ""} ${entry.where || ""}`.toLowerCase().includes(word)));
    buttons.length = 0;
    list.replaceChildren(...found.slice(0, MOST).map(listItem));
    if (!found.length) list.append(el("li", null, el("div", { class: "plain found" }, "Nothing has these words.")));
    more.textContent = found.length > MOST ? `${found.length - MOST} more are in the result.` : "";
  }
  const box = el("input", { class: "search", type: "search", placeholder: `Find among ${all.length}`, "aria-label": "Find a finding", oninput: () => fillIn(box.value.toLowerCase().split(/\s+/).filter(Boolean)) });
  fillIn([]);
  return [all.length > MANY && box, list, more];
}

// What the page is made of, and the page itself: when, by which version, with what command, where, of which commit.
function madeWords(what, made) {
  return el("p", null, what, made && [" made ", made.time.replace("T", " ").replace("Z", " UTC"), ` by Portent ${made.version} on ${made.host}`,
    made.commit && ` at commit ${made.commit.slice(0, 12)}`, ": ", el("code", null, made.command)]);
}
function resultWords({ trace, program, made, file, written }) {
  const about = program.join(" ") || trace, what = ["Result", about ? [" of ", el("code", null, about)] : ""].flat();
  return made || !written ? madeWords(what, made) : madeWords([...what, ...(about === file ? [] : [" in ", el("code", null, file)]), `, written ${written.replace("T", " ").replace("Z", " UTC")}`]);
}
document.getElementById("made").append(...data.results.slice(0, 200).filter(({ made, written }) => made || written || data.results.length > 1).map(resultWords), data.made ? madeWords("Page", data.made) : "");

if (all.length > 1 || !bad.length) page.append(...findingList().filter(Boolean));
if (all.length === 0) page.append(el("p", { class: "note" }, "The result has no properties."));
page.append(holder);
if (bad.length) select(bad.find((entry) => !entry.muted) || bad[0], buttons);

document.addEventListener("keydown", (event) => {
  if (!current || event.altKey || event.ctrlKey || event.metaKey) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (current.key(event)) event.preventDefault();
});
