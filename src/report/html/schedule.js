// A schedule that explore found: who ran how far, beside the nearest one that passed. A dot is the end of a stretch, an
// arrow hands the turn over.
const FAILURES = { signal: "Killed by a signal", status: "Another exit status", deadlock: "Deadlock", stuck: "Nobody can go on", livelock: "Livelock", timeout: "It does not end", race: "Data race", lifetime: "Use of memory after its end", property: "A property is violated" };
const pointWords = (point) => point ? `${point.op}${point.object ? ` ${point.object}` : ""}` : "";

function stretchWords(stretch, last, again) {
  const { next } = stretch, verb = again ? "goes on" : "runs";
  if (last) return verb;
  if (!next && again && stretch.steps === 1 && stretch.last && stretch.last.op === "ends") return "ends";
  if (!next || (next.op === "ends" && !next.loc)) return `${verb} to its end`;
  const place = next.loc || next.function;
  return place ? `${verb} to ${place}, where it ${pointWords(next)}` : `${verb} until it ${pointWords(next)}`;
}

// The stretches as events of a space-time diagram.
function scheduleRun(title, stretches) {
  const seen = new Set();
  const steps = stretches.map((stretch, i) => {
    const again = seen.has(stretch.name);
    seen.add(stretch.name);
    const point = stretch.next || stretch.last || null;
    return { stretch, i, words: `${stretch.name} ${stretchWords(stretch, i === stretches.length - 1, again)}`, loc: point ? point.loc : "" };
  });
  return { title, name: title, steps };
}

function scheduleTable(run, sources, differs) {
  return el("section", { class: "card side" }, el("h2", null, run.title),
    el("ol", { class: "calls" }, run.steps.slice(0, 60).map((step) => el("li", { class: step.i === differs ? "here" : null },
      el("span", { class: "function" }, step.words), " ", el("span", { class: "loc" }, plural(step.stretch.steps, "step")),
      sources[step.loc] && sources[step.loc].trim() ? el("code", { class: "src" }, sources[step.loc].trim()) : null))),
    run.steps.length > 60 ? el("p", { class: "note" }, `${run.steps.length - 60} more are in the result.`) : null);
}

function waitsCard(property) {
  if (!property.waits || !property.waits.length) return null;
  return el("section", { class: "card" }, el("h2", null, "Who waits for what"), el("ul", { class: "reasons", style: { "margin-top": "10px" } },
    property.waits.map((wait) => el("li", null, wait.words || `${wait.name} waits${wait.point ? ` at ${wait.point.loc}` : ""}`))));
}

// The parts of a finding that are its schedule; `draw` when they are on the page.
function scheduleParts(property, sources) {
  const runs = [scheduleRun("The failing run", property.stretches), ...(property.passing ? [scheduleRun("A run that passed", property.passing)] : [])];
  const threads = [...new Set(runs.flatMap((run) => run.steps.map((step) => step.stretch.name)))];
  const same = (a, b) => a && b && a.stretch.name === b.stretch.name && a.words === b.words && a.stretch.steps === b.stretch.steps;
  const differs = runs[1] ? runs[0].steps.findIndex((step, i) => !same(step, runs[1].steps[i])) : -1;
  const listOf = (run) => run.steps.map((step) => ({ number: step.i + 1, threadIndex: threads.indexOf(step.stretch.name), label: step.loc.replace(/^.*\//, "") || "end", words: step.words }));
  const lists = new Map(runs.map((run) => [run, listOf(run)]));
  const longest = Math.max(...runs.map((run) => run.steps.length), 1);
  const before = new Map(Array.from({ length: longest }, (_, i) => [i + 1, i ? [i] : []]));
  const widest = Math.max(6, ...runs.flatMap((run) => lists.get(run).map((event) => event.label.length)));
  const sky = spaceTime({ threads, before, widest }, (step) => control.go(step));
  const words = el("p", { class: "happened" });
  let current = null, ready = false;
  const control = stepper(runs, (run, step) => {
    if (run !== current) {
      current = run;
      sky.setRun(lists.get(run), { moved: new Set(differs >= 0 ? [differs + 1] : []), breaks: run === runs[0] ? run.steps.length : 0 });
    }
    const at = step > 0 ? run.steps[step - 1] : null;
    words.replaceChildren(...(at ? [at.words, ".", sources[at.loc] ? el("code", { style: { display: "block", color: "var(--soft)" } }, sources[at.loc].trim()) : ""] : ["Before the first step."]));
    if (ready) sky.show(step);
  });
  const element = el("div", null,
    el("section", { class: "card" }, el("h2", null, "The schedule"),
      el("p", { class: "note" }, "A line per thread; a dot is where it stopped, an arrow hands the turn over. The ringed one is the first that differs.", runs.length > 1 ? " r switches the run." : ""), control.element, sky.element, words),
    el("div", { class: "sides" }, runs.map((run) => scheduleTable(run, sources, differs))), waitsCard(property));
  return { element, key: control.key, draw() { ready = true; control.refresh(); } };
}

function scheduleFinding(property, sources, program) {
  const parts = scheduleParts(property, sources);
  const replay = replayOf(property, program);
  const element = el("article", { class: "finding" },
    el("div", { class: "head" }, el("div", { class: "row" }, el("h1", null, FAILURES[property.failure] || property.failure), el("span", { class: "chip violated" }, property.reproduced ? "reproduced" : "seen once"), ...suppressedChips(property)),
      el("p", { class: "lead" }, `${capital(property.what)}.`),
      el("dl", { class: "facts" }, fact("run", property.run), fact("found by", property.found_by === "first" ? "the ordinary schedule" : property.found_by), fact("switches", property.switches), fact("preemptions", property.preemptions), fact("steps", property.steps), fact("seen", property.count > 1 ? `${property.count} times` : "once"), fact("id", property.id))),
    parts.element, property.output ? el("section", { class: "card" }, el("h2", null, "It printed last"), el("pre", { class: "mono printed" }, property.output)) : null,
    replay ? el("section", { class: "card" }, el("h2", null, "To see it again"), el("div", { class: "acts", style: { "margin-top": "12px" } }, el("div", { class: "act" }, el("span", null, "Run"), el("code", null, replay), copyButton(replay)))) : null);
  return { element, key: parts.key, draw: parts.draw };
}
