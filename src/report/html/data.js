// From a property of the result to two runs with their values, truth and happens-before.

// Where a result is too long for its detail, events are told apart by thread and place within it.
function withoutDetail(property) {
  const number = (steps) => {
    const seen = new Map();
    return steps.map((step) => {
      const index = (seen.get(step.thread) || 0) + 1;
      seen.set(step.thread, index);
      return { ...step, key: `${index} ${step.thread}` };
    });
  };
  const actual = number(property.observed);
  const place = new Map(actual.map((step, i) => [step.key, i + 1]));
  actual.forEach((step, i) => { step.number = i + 1; });
  return {
    threads: [...new Set(actual.map((step) => step.thread))], variables: [], formulas: [], moves: [], actual,
    witness: number(property.witness).map((step) => place.get(step.key)),
  };
}

function makeRun(name, title, events, model, truths) {
  const values = model.variables.map((variable) => variable.initial);
  const steps = events.map((event, i) => {
    const written = event.var !== undefined;
    const before = written ? values[event.var] : undefined;
    if (written) values[event.var] = event.value === undefined ? null : event.value;
    return { event, i, before };
  });
  return {
    name, title, steps, truths,
    position: new Map(events.map((event, i) => [event.number, i])),
    valuesAt(step) {
      const now = model.variables.map((variable) => variable.initial);
      for (let i = 0; i < step; i++) {
        const event = events[i];
        if (event.var !== undefined) now[event.var] = event.value === undefined ? null : event.value;
      }
      return now;
    },
  };
}

// For each event, the events of other threads that it follows at once: what its clock knows beyond its own thread's
// previous event, less what another of these already implies.
function happensBefore(model) {
  const at = new Map(), last = new Map(), before = new Map();
  for (const event of model.actual) if (event.clock) at.set(`${event.threadIndex}:${event.clock[event.threadIndex]}`, event);
  for (const event of model.actual) {
    const list = [];
    const old = last.get(event.threadIndex);
    for (let t = 0; event.clock && t < event.clock.length; t++) {
      if (t === event.threadIndex || event.clock[t] <= (old ? old.clock[t] : 0)) continue;
      const cause = at.get(`${t}:${event.clock[t]}`);
      if (cause) list.push(cause);
    }
    before.set(event.number, list.filter((cause) => !list.some((other) =>
      other !== cause && other.clock[cause.threadIndex] >= cause.clock[cause.threadIndex])).map((cause) => cause.number));
    last.set(event.threadIndex, event);
  }
  return before;
}

function decode(property) {
  if (property.sides || !Array.isArray(property.witness)) return null; // a check shows its sides
  const detail = property.detail || {};
  const model = detail.actual ? { ...detail } : { ...withoutDetail(property), variables: detail.variables || [], formulas: detail.formulas || [] };
  const threadOf = new Map(model.threads.map((name, i) => [name, i]));
  model.actual = model.actual.map((event) => ({ ...event, threadIndex: threadOf.get(event.thread) || 0 }));
  const byNumber = new Map(model.actual.map((event) => [event.number, event]));
  const witness = model.witness.map((number) => byNumber.get(number)).filter(Boolean);
  model.byNumber = byNumber;
  model.before = happensBefore(model);
  model.moved = new Set(model.moves.map((move) => model.witness[move.step]));
  model.inWitness = new Set(model.witness);
  model.same = witness.length === model.actual.length && witness.every((event, i) => event === model.actual[i]);
  model.predicted = makeRun("predicted", property.how === "observed" && model.same ? "Your run" : property.how === "observed" ? "Shortest violating order" : "Predicted run", witness, model, detail.witness_truths);
  model.observed = makeRun("observed", "Your run", model.actual, model, detail.actual_truths);
  model.from = property.witness_from ? property.witness_from.events : 0;
  return model;
}

function changeText(step) {
  const event = step.event;
  if (event.op === "event") return `event ${event.object}`;
  if (event.op === "step") return event.object;
  if (step.before === undefined) return `${event.object} = ${showValue(event.value)}`;
  return `${event.object}: ${showValue(step.before)} → ${showValue(event.value)}`;
}

function stepWords(event) {
  const value = event.value === undefined ? "" : `=${showValue(event.value)}`;
  return `${event.op}(${event.object})${value} by ${event.thread}${event.loc && event.loc !== "-" ? ` (${event.loc})` : ""}`;
}
