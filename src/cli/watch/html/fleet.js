/*
 * Several programs: a table of all, those that need looking at first, and below it the one that is chosen. Which one that is stands in
 * the address (#program=ID), so that it can be kept and sent on.
 */
const rank = (program) => program.verdicts.some((v) => v === "violated" || v === "error") ? 0
  : program.lost || program.verdicts.includes("unknown") ? 1 : program.ended ? 3 : 2;

function chosenProgram() {
  const found = /^#program=(\d+)$/.exec(location.hash);
  return found ? Number(found[1]) : 0;
}

function lights(fleet, program) {
  const cell = element("td", "");
  program.verdicts.forEach((verdict, i) => {
    const light = element("i", verdict);
    light.title = `${fleet.properties[i]}: ${verdict}`;
    cell.append(light);
  });
  return cell;
}

function programRow(fleet, program) {
  const bad = fleet.properties.filter((_, i) => program.verdicts[i] === "violated");
  const row = element("tr", [program.ended ? "ended" : "", bad.length ? "bad" : "", program.id === chosenProgram() ? "chosen" : ""].join(" ").trim());
  const name = element("td", ""), button = element("button", "", program.program.replace(/^.*\//, "") || program.address);
  button.title = `${program.program || "not heard of yet"} at ${program.address}`;
  button.onclick = () => { location.hash = `program=${program.id}`; };
  name.append(button, program.ended ? " has ended " : " ");
  if (bad.length) name.append(element("small", "", `violated: ${bad.join(", ")}`));
  row.append(lights(fleet, program), name);
  for (const key of ["pid", "threads", "events", "lost"])
    row.append(element("td", "number" + (key === "lost" && program.lost ? " some" : ""), key === "pid" ? program.pid : program[key].toLocaleString("en")));
  return row;
}

function showFleet(fleet) {
  document.body.classList.toggle("nobody", Boolean(fleet) && !chosenProgram());
  $("fleet").hidden = !fleet;
  if (!fleet) return;
  const wanted = $("fleet-filter").value.toLowerCase();
  const all = fleet.programs.filter((p) => `${p.program} ${p.pid} ${p.address}`.toLowerCase().includes(wanted));
  all.sort((a, b) => rank(a) - rank(b) || a.id - b.id);
  replace($("programs").tBodies[0], all.slice(0, 500).map((program) => programRow(fleet, program)));
  const ended = fleet.came - fleet.running;
  $("fleet-sum").textContent = `${fleet.running} running, ${ended} ended` + (fleet.forgotten ? ` (${fleet.forgotten} not shown)` : "") +
    (fleet.pending ? `, ${fleet.pending} not there yet` : "") + (fleet.listens ? `; listening at ${fleet.listens}` : "");
  $("programs").hidden = !all.length;
  $("fleet-empty").hidden = all.length > 0;
  $("fleet-empty").textContent = fleet.programs.length ? "No program has that name." : "No program has come yet.";
}
