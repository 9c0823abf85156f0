"use strict";
/*
 * What the page knows. A message says how everything stands now, and what happened since the last one; where much happened, the
 * older part of it is left out ("skipped"), so the state of things is brought in line with the message after its items.
 * Per thread: slices (states over time), holds (locks over time) and marks (single moments), each of bounded length; what lies before `since` is not among
 * them any more, or never was, and is drawn from `past`: a character for each stretch of time since the start, with bits for what happened in it.
 */
const KEEP = 4000, KEEP_LOG = 600, QUIET = new Set(["state", "acq", "rel", "racq", "rrel", "wait", "notify", "sync"]);

function newModel() {
  return { now: 0, threads: new Map(), since: 0, stretch: 0, log: [], gaps: [], notes: [], properties: [], program: "", pid: 0, address: "", events: 0, lost: 0, ended: false };
}

function threadOf(model, name) {
  let thread = model.threads.get(name);
  if (!thread) {
    thread = { name, state: "", detail: "", slices: [], holds: [], open: new Map(), marks: [], past: "", since: model.since };
    model.threads.set(name, thread);
  }
  return thread;
}

// What had to go.
function push(list, entry, keep = KEEP) {
  list.push(entry);
  return list.length > keep + keep / 4 ? list.splice(0, list.length - keep) : [];
}

function pushOf(thread, list, entry) {
  for (const gone of push(list, entry)) thread.since = Math.max(thread.since, gone.from === undefined ? gone.time : gone.from);
}

const KNOWN = new Set(["running", "ready", "ended"]);
function setState(thread, time, text) {
  const state = KNOWN.has(text) ? text : "blocked";
  const last = thread.slices[thread.slices.length - 1];
  if (last && last.state === state && last.to === null) return;
  if (last && last.to === null) last.to = time;
  thread.state = state;
  pushOf(thread, thread.slices, { from: time, to: state === "ended" ? time : null, state });
}

function enter(thread, time, lock) {
  if (thread.open.has(lock)) return;
  const hold = { from: time, to: null, lock };
  thread.open.set(lock, hold);
  pushOf(thread, thread.holds, hold);
}

function leave(thread, time, lock) {
  const hold = thread.open.get(lock);
  if (hold) hold.to = time;
  thread.open.delete(lock);
}

// What a thread did at that time by the rough strokes; who has an event and no strokes runs.
function stateAt(model, thread, time) {
  const marks = model.stretch && thread.past ? thread.past.charCodeAt(Math.min(thread.past.length - 1, Math.floor(time / model.stretch))) - 48 : 0;
  return marks & 1 || !(marks & 6) ? "running" : marks & 2 ? "ready" : "blocked";
}

function takeItem(model, [time, op, name, text, place]) {
  push(model.log, { time, op, thread: name, text, place }, KEEP_LOG);
  if (op === "lost") {
    push(model.gaps, { time, text });
    return;
  }
  if (op === "note") {
    push(model.notes, { time, text });
    return;
  }
  const thread = threadOf(model, name);
  if (op === "state") setState(thread, time, text);
  else if (!thread.slices.length) setState(thread, time, stateAt(model, thread, time));
  if (op === "acq" || op === "racq") enter(thread, time, text);
  if (op === "rel" || op === "rrel") leave(thread, time, text);
  if (op === "event" || op === "contended" || op === "acq" || op === "racq" || op === "rel" || op === "rrel")
    pushOf(thread, thread.marks, { time, op, text, place });
}

// Details of what was left out do not come any more.
function leaveOut(model, message) {
  const from = message.items.length ? message.items[0][0] : message.now;
  model.since = from;
  for (const thread of model.threads.values()) thread.since = Math.max(thread.since, from);
}

function takeMessage(model, message) {
  if (message.skipped || !model.events) leaveOut(model, message);
  if (message.stretch) {
    model.stretch = message.stretch;
    for (const { name, past } of message.threads) threadOf(model, name).past = past;
  }
  for (const item of message.items) takeItem(model, item);
  for (const reported of message.threads) {
    const thread = threadOf(model, reported.name);
    if (thread.state !== reported.state) setState(thread, message.now, reported.state);
    thread.detail = reported.detail || "";
    for (const lock of [...thread.open.keys()]) if (!reported.locks.includes(lock)) leave(thread, message.now, lock);
    for (const lock of reported.locks) enter(thread, message.now, lock);
  }
  const reported = new Set(message.threads.map((thread) => thread.name));
  for (const name of [...model.threads.keys()]) if (!reported.has(name)) model.threads.delete(name);
  for (const key of ["now", "properties", "program", "pid", "address", "events", "lost", "ended"]) model[key] = message[key];
}
