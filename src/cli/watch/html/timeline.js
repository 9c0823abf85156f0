/*
 * The timeline, after the ThreadMonitor of the JamaicaVM paper (Figure 2): a line per thread, thick while it runs; above it the locks it
 * holds, with a flag where it takes and leaves them, and octagons where it found one taken; below it boxes for user events. What is too long ago to be
 * known in detail is there in rough strokes. Only the rows in view are drawn.
 */
const ROW = 54, AXIS = 26, LINE = 30;
const RAN = 1, READY = 2, BLOCKED = 4, HELD = 8, EVENT = 16, CONTENDED = 32; // as in cli/watch/scene.h

function niceStep(span, pixels) {
  const rough = span / Math.max(2, pixels / 110), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough);
}

function duration(ns) {
  const [size, unit] = ns >= 60e9 ? [60e9, "min"] : ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  return `${Number((ns / size).toPrecision(4))} ${unit}`;
}

class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.span = 10e9;   // nanoseconds across
    this.right = 0;     // the time at the right edge
    this.hits = [];     // what was drawn where, for the pointer
    this.colors();
  }

  colors() {
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue(`--${name}`).trim();
  }

  x(time) { return this.width - (this.right - time) / this.span * this.width; }
  time(x) { return this.right - (this.width - x) / this.width * this.span; }

  draw(model, threads) {
    const ratio = window.devicePixelRatio || 1, height = threads.length * ROW + AXIS;
    this.width = this.canvas.clientWidth;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const c = this.c = this.canvas.getContext("2d");
    c.scale(ratio, ratio);
    this.hits = [];
    this.axis(height);
    for (const gap of model.gaps) this.band(gap, height);
    const view = this.canvas.parentElement, first = Math.floor(view.scrollTop / ROW) - 1, last = first + view.clientHeight / ROW + 3;
    threads.forEach((thread, row) => { if (row >= first && row <= last) this.thread(thread, row * ROW, model); });
    for (const note of model.notes) this.note(note, height);
    this.violations(model.properties, height, view.scrollTop);
  }

  axis(height) {
    const { c } = this, step = niceStep(this.span, this.width), digits = Math.max(0, Math.ceil(-Math.log10(step / 1e9)));
    c.font = `11.5px ${this.color("sans")}`;
    c.textAlign = "center";
    for (let t = Math.ceil((this.right - this.span) / step) * step; t <= this.right; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.strokeStyle = this.color("line");
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x, 0);
      c.lineTo(x, height - AXIS + 4);
      c.stroke();
      c.fillStyle = this.color("faint");
      if (t >= 0 && x > 20 && x < this.width - 20) c.fillText(`${(t / 1e9).toFixed(digits)} s`, x, height - 8);
    }
  }

  band(gap, height) {
    const x = this.x(gap.time);
    if (x < -10 || x > this.width) return;
    this.c.fillStyle = this.color("open-wash");
    this.c.fillRect(x - 4, 0, 8, height - AXIS);
    this.dashed(x, height, this.color("open"));
    this.hits.push({ x0: x - 6, x1: x + 6, y0: 0, y1: height, text: gap.text, time: gap.time });
  }

  note(note, height) {
    const x = this.x(note.time);
    if (x < 0 || x > this.width) return;
    this.dashed(x, height, this.color("bad"));
    this.hits.push({ x0: x - 5, x1: x + 5, y0: 0, y1: height, text: note.text, time: note.time });
  }

  /* Where a property was violated, with its name, however long ago. */
  violations(properties, height, top) {
    const { c } = this;
    let lane = 0;
    for (const property of properties) {
      const x = property.verdict === "violated" && property.time !== undefined ? this.x(property.time) : -1;
      if (x < 0 || x > this.width) continue;
      const words = `✗ ${property.name}`, y = top + 2 + 15 * (lane++ % 3);
      c.font = `bold 11px ${this.color("sans")}`;
      const wide = c.measureText(words).width + 8, at = Math.min(x, this.width - wide);
      this.dashed(x, height, this.color("bad"));
      c.textAlign = "left";
      c.fillStyle = this.color("bad");
      c.fillRect(at, y, wide, 14);
      c.fillStyle = this.color("paper");
      c.fillText(words, at + 4, y + 11);
      this.hits.push({ x0: at, x1: at + wide, y0: y, y1: y + 14, text: `${property.name} violated ${causeWords(property)}: ${property.text}`, time: property.time });
    }
  }

  dashed(x, height, color) {
    const { c } = this;
    c.strokeStyle = color;
    c.lineWidth = 1.2;
    c.setLineDash([4, 3]);
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, height - AXIS);
    c.stroke();
    c.setLineDash([]);
  }

  /* Stretches of time before the details begin: the thickest state, locks, and that there were events. */
  past(thread, top, stretch) {
    const { c } = this, from = Math.max(0, Math.floor((this.right - this.span) / stretch)), to = Math.min(thread.past.length, Math.ceil(Math.min(this.right, thread.since) / stretch));
    for (let i = from; i < to; i++) {
      const marks = thread.past.charCodeAt(i) - 48, x0 = this.x(i * stretch), wide = Math.max(0.6, this.x(Math.min((i + 1) * stretch, thread.since)) - x0);
      const stroke = (name, y, high, alpha) => { c.globalAlpha = alpha; c.fillStyle = this.color(name); c.fillRect(x0, y, wide, high); };
      if (marks & RAN) stroke("good", top + LINE - 3, 6, 0.55);
      else if (marks & READY) stroke("open", top + LINE - 1.5, 3, 0.55);
      else if (marks & BLOCKED) stroke("faint", top + LINE - 0.8, 1.6, 0.45);
      if (marks & HELD) stroke("seen", top + 19, 5, 0.3);
      if (marks & CONTENDED) stroke("bad", top + 8, 4, 0.6);
      if (marks & EVENT) stroke("seen", top + LINE + 7, 6, 0.4);
    }
    c.globalAlpha = 1;
  }

  thread(thread, top, { now, stretch }) {
    if (stretch && thread.past) this.past(thread, top, stretch);
    for (const slice of thread.slices) this.slice(slice, top + LINE, now);
    for (const hold of thread.holds) this.hold(hold, top, now);
    this.marks(thread.marks, top);
  }

  inside(from, to, now) {
    const x0 = this.x(from), x1 = this.x(to === null ? now : to);
    return x1 < 0 || x0 > this.width ? null : [Math.max(0, x0), Math.min(this.width, Math.max(x1, x0 + 0.6))];
  }

  slice(slice, y, now) {
    const at = slice.state === "ended" ? null : this.inside(slice.from, slice.to, now);
    if (!at) return;
    const [thick, name, alpha] = { running: [6, "good", 1], ready: [3, "open", 1], blocked: [1.6, "faint", 0.7] }[slice.state];
    this.c.globalAlpha = alpha;
    this.c.fillStyle = this.color(name);
    this.c.fillRect(at[0], y - thick / 2, at[1] - at[0], thick);
    this.c.globalAlpha = 1;
  }

  hold(hold, top, now) {
    const at = this.inside(hold.from, hold.to, now), { c } = this;
    if (!at) return;
    c.globalAlpha = 0.55;
    c.fillStyle = this.color("seen");
    c.fillRect(at[0], top + 19, at[1] - at[0], 5);
    c.globalAlpha = 1;
    this.hits.push({ x0: at[0], x1: at[1], y0: top + 14, y1: top + 26, text: `holds ${hold.lock}`, time: hold.from });
  }

  marks(marks, top) {
    let free = { event: -1e9, flag: -1e9 };
    for (let i = 0; i < marks.length; i++) {
      const mark = marks[i], x = this.x(mark.time);
      if (x < -200 || x > this.width) continue;
      if (mark.op === "contended") this.octagon(x, top + 10, mark);
      else if (mark.op === "event") free.event = this.box(x, top + LINE + 7, mark, free.event, this.roomAfter(marks, i, x));
      else free.flag = this.flag(x, top, mark, free.flag);
    }
  }

  roomAfter(marks, i, x) {
    for (let k = i + 1; k < marks.length; k++) if (marks[k].op === "event") return this.x(marks[k].time) - x;
    return this.width;
  }

  octagon(x, y, mark) {
    const { c } = this;
    c.fillStyle = this.color("bad");
    c.beginPath();
    for (let k = 0; k < 8; k++) c.lineTo(x + 5 * Math.cos((k + 0.5) * Math.PI / 4), y + 5 * Math.sin((k + 0.5) * Math.PI / 4));
    c.fill();
    this.hits.push({ x0: x - 6, x1: x + 6, y0: y - 6, y1: y + 6, text: `found ${mark.text} taken  ${mark.place}`, time: mark.time });
  }

  flag(x, top, mark, free) {
    if (x - free < 9) return free;
    const { c } = this, way = mark.op === "acq" || mark.op === "racq" ? 1 : -1;
    c.strokeStyle = c.fillStyle = this.color("seen");
    c.lineWidth = 1.2;
    c.beginPath();
    c.moveTo(x, top + LINE - 3);
    c.lineTo(x, top + 9);
    c.stroke();
    c.beginPath();
    c.moveTo(x, top + 8);
    c.lineTo(x + 7 * way, top + 11.5);
    c.lineTo(x, top + 15);
    c.fill();
    this.hits.push({ x0: x - 7, x1: x + 7, y0: top + 6, y1: top + 17, text: `${way > 0 ? "takes" : "leaves"} ${mark.text}  ${mark.place}`, time: mark.time });
    return x;
  }

  box(x, y, mark, free, room) {
    const { c } = this;
    if (x < free + 1.5) return free;
    c.font = `11px ${this.color("mono")}`;
    c.textAlign = "left";
    const wide = c.measureText(mark.text).width + 8, fits = wide <= room - 3, width = fits ? wide : 4;
    c.fillStyle = this.color("seen-wash");
    c.strokeStyle = this.color("seen");
    c.lineWidth = 1;
    c.beginPath();
    c.rect(x, y, width, 14);
    c.fill();
    c.stroke();
    c.fillStyle = this.color("ink");
    if (fits) c.fillText(mark.text, x + 4, y + 10.5);
    this.hits.push({ x0: x - 2, x1: x + width + 2, y0: y - 2, y1: y + 16, text: `${mark.text}  ${mark.place}`, time: mark.time });
    return x + width;
  }

  /* What is at a point of the canvas, in words; "" where nothing is. */
  at(x, y) {
    for (let i = this.hits.length - 1; i >= 0; i--) {
      const hit = this.hits[i];
      if (x >= hit.x0 && x <= hit.x1 && y >= hit.y0 && y <= hit.y1) return `${(hit.time / 1e9).toFixed(6)} s  ${hit.text}`;
    }
    return "";
  }
}
