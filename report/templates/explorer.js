"use strict";

/* The explorer of a bound.  The page has sliders, tables and an empty drawing.  `compiled` has the right side, its terms
   and the sides of its conditions as functions of all slider values.  #explorer-data has the divisions of the sliders
   and, for a bound with a comparator, the problems whose best comparators are known. */

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("explorer-data").textContent);
const sliders = data.sliders.map((_, number) => byId(`slider-${number}`));
const looks = [...document.querySelectorAll("tr.term")].map((row) => row.dataset);
const HEIGHT = { wide: 360, narrow: 230 };
const MARGIN = { left: 60, right: 12, top: 10, bottom: 26 };
const ALL_DIGITS = 15; // a slider's number is shown as it is
const DIGITS = 5; // of a run's number
const FINE = 40; // halvings in search of the edge of a region

/* Numbers */

/* Return all values of a slider in increasing order: powers of ten with three digits or integers, and that of a run. */
function numbersOf({ low, high, whole, zero }, own = []) {
  const found = zero ? [0, ...own] : [...own];
  for (let notch = low; notch <= high; notch += 1) {
    const number = 10 ** (notch / data.notches);
    found.push(whole ? Math.max(1, Math.round(number)) : Number(number.toPrecision(3)));
  }
  return [...new Set(found)].sort((one, other) => one - other);
}

let grids = data.sliders.map((slider) => numbersOf(slider));
const present = () => followed(sliders.map((slider, number) => grids[number][Number(slider.value)]));
const across = () => Number(byId("across").value);
const withNumber = (numbers, place, value) => followed(numbers.map((number, n) => (n === place ? value : number)));

/* Return the index of the slider value that is closest to a number on a logarithmic scale. */
function nearestPlace(slider, wanted) {
  const distances = grids[slider].map((number) => (number === wanted ? 0 : Math.abs(Math.log(number / wanted))));
  return distances.indexOf(Math.min(...distances));
}

/* The best comparator of a problem */

let best = null; // the problem whose best comparator is used; null if sliders set its constants
const isFollowed = (place) => best !== null && place in best.tables;

/* Interpolate geometrically, or linearly where the ratio of the two values is far from one. */
function between(low, high, share) {
  const ratio = high / low;
  return ratio > 0.5 && ratio < 2 ? low * ratio ** share : low + share * (high - low);
}

function atNotch(table, notch) {
  const at = Math.min(Math.max(notch, 0), table.length - 1);
  const before = Math.min(Math.floor(at), table.length - 2);
  return between(table[before], table[before + 1], at - before);
}

/* Return slider values; the constants of the best comparator follow from the length of the run. */
function followed(numbers) {
  if (best === null) return numbers;
  const length = data.length.reduce((product, place) => product * numbers[place], 1);
  const notch = data.notches * Math.log10(length / best.length) - best.first;
  return numbers.map((number, place) => (isFollowed(place) ? atNotch(best.tables[place], notch) : number));
}

/* Return the slack of a relation, and whether it holds; a non-strict one also holds up to a near tie. */
function compare(left, operator, right) {
  const near = data.nearTie * (Math.abs(left) + Math.abs(right));
  if (operator === "==") return { slack: -Math.abs(left - right), holds: Math.abs(left - right) <= near };
  const slack = operator[0] === ">" ? left - right : right - left;
  return { slack, holds: operator.length === 1 ? slack > 0 : slack >= -near };
}

function decide(numbers, place) {
  const [left, right] = compiled.conditions[place].map((side) => side(...numbers));
  return compare(left, data.operators[place], right);
}

const decisions = (numbers) => data.operators.map((_, place) => decide(numbers, place));
const admissible = (numbers) => decisions(numbers).every(({ holds }) => holds);

/* Return the intervals of one symbol in which all conditions hold, for fixed values of the others. */
function intervals(numbers, place, xs) {
  const inside = (x) => admissible(withNumber(numbers, place, x));
  const edge = (good, bad) => {
    if (data.sliders[place].whole) return Math.sqrt(good * bad);
    for (let halving = 0; halving < FINE; halving += 1) {
      const middle = Math.sqrt(good * bad);
      if (inside(middle)) good = middle;
      else bad = middle;
    }
    return good;
  };
  const found = [];
  xs.forEach((x, n) => {
    const before = n > 0 && inside(xs[n - 1]);
    if (inside(x) && !before) found.push([n ? edge(x, xs[n - 1]) : x, x]);
    if (inside(x)) found.at(-1)[1] = x;
    else if (before) found.at(-1)[1] = edge(xs[n - 1], x);
  });
  return found;
}

/* Texts */

function shown(value, digits = 4) {
  if (!Number.isFinite(value)) return "undefined";
  const text = value.toPrecision(digits).replace(/(\.\d*?)0+(?=e|$)/, "$1").replace(/\.(?=e|$)/, "");
  const [number, power] = text.split("e");
  return power === undefined ? number.replace("-", "−") : `${number.replace("-", "−")}·10${raised(Number(power))}`;
}

const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : `${shown(100 * share, 3)} %`);
const raised = (power) => String(power).replace(/./g, (mark) => (mark === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[mark]));

function put(id, value, digits) {
  byId(id).value = String(value);
  byId(id).textContent = shown(value, digits);
}

function headline(value, all) {
  const inside = all.every(({ holds }) => holds);
  const [number, verdict] = ["strong", "span"].map((tag) => document.createElement(tag));
  number.textContent = shown(value);
  if (!inside) verdict.textContent = "✗ outside the conditions: nothing is promised";
  else if (!Number.isFinite(value)) verdict.textContent = "✗ the right side has no value here";
  else if (data.undecided) verdict.textContent = "some conditions are not decided here";
  else verdict.textContent = all.length ? "✓ the conditions hold" : "✓ no conditions to meet";
  byId("headline").className = inside && Number.isFinite(value) ? "inside" : "outside";
  byId("headline").replaceChildren(number, " ", verdict);
}

function tables(numbers, value) {
  const terms = compiled.terms.map((term) => term(...numbers));
  const defined = terms.every(Number.isFinite);
  const largest = defined ? Math.max(...terms) : NaN;
  const shares = defined && Math.min(...terms) >= 0 && value > 0;
  put("bound", value);
  terms.forEach((term, n) => {
    put(`term-${n}`, term);
    const dominates = term === largest;
    byId(`part-${n}`).textContent = (shares ? percent(term / value) : "") + (dominates ? " dominates" : "");
    byId(`part-${n}`).parentNode.classList.toggle("dominating", dominates);
  });
  if (compiled.left.length) {
    const left = compiled.left[0](...numbers);
    const { holds } = compare(left, data.relation, value);
    put("left", left);
    byId("left-part").textContent = holds ? "holds" : "fails";
    byId("left-part").parentNode.classList.toggle("fails", !holds);
  }
}

function conditions(all) {
  all.forEach(({ slack, holds }, n) => {
    byId(`mark-${n}`).textContent = holds ? "✓" : "✗";
    byId(`holds-${n}`).textContent = holds ? "holds" : "fails";
    byId(`mark-${n}`).parentNode.classList.toggle("fails", !holds);
    put(`slack-${n}`, slack);
  });
}

/* The drawing */

function draw(parent, tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.textContent = text;
  parent.append(made);
  return made;
}

/* Return exponents of at most about eight powers of ten between two numbers. */
function ticks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first) / 8));
  return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, n) => first + n * stride);
}

/* Return the range of the vertical axis: admissible values of the bound, its present value, and three decades below. */
function heights(values, regions, xs, here) {
  const inside = values.filter((_, n) => regions.some(([low, high]) => low <= xs[n] && xs[n] <= high));
  const positive = (list) => list.filter((value) => value > 0 && Number.isFinite(value));
  const known = [...positive(inside), ...positive([here])];
  const counted = known.length ? known : positive(values);
  if (!counted.length) return [0.1, 10];
  return [Math.min(...counted) / 1000, Math.max(...counted) * 2];
}

function path(xs, values, x, y) {
  let pen = "M";
  return xs.map((at, n) => {
    if (!(values[n] > 0 && Number.isFinite(values[n]))) { pen = "M"; return ""; }
    const step = `${pen}${x(at).toFixed(1)} ${y(values[n]).toFixed(1)}`;
    pen = "L";
    return step;
  }).join("");
}

function shade(canvas, regions, x, box) {
  const edges = [box.left, ...regions.flatMap(([low, high]) => [x(low), x(high)]), box.right];
  for (let n = 0; n < edges.length; n += 2) {
    if (edges[n + 1] - edges[n] < 0.5) continue;
    const size = { x: edges[n], y: box.top, width: edges[n + 1] - edges[n], height: box.bottom - box.top };
    draw(canvas, "rect", { ...size, class: "forbidden" });
    draw(canvas, "rect", { ...size, fill: "url(#hatching)" });
    const word = size.width > 110 ? "a condition fails" : size.width > 40 ? "fails" : "";
    draw(canvas, "text", { x: size.x + size.width / 2, y: box.top + 16, class: "word" }, word);
  }
}

function grid(canvas, spanX, spanY, x, y, box) {
  ticks(...spanX).forEach((power) => {
    draw(canvas, "path", { d: `M${x(10 ** power)} ${box.top}V${box.bottom}`, class: "line" });
    draw(canvas, "text", { x: x(10 ** power), y: box.bottom + 17, class: "across" }, `10${raised(power)}`);
  });
  ticks(...spanY).forEach((power) => {
    draw(canvas, "path", { d: `M${box.left} ${y(10 ** power)}H${box.right}`, class: "line" });
    draw(canvas, "text", { x: box.left - 6, y: y(10 ** power) + 4, class: "up" }, `10${raised(power)}`);
  });
}

function scale([low, high], from, to) {
  const [first, last] = [Math.log(low), Math.log(high)];
  return (value) => from + ((Math.log(value) - first) / (last - first)) * (to - from);
}

function plot(numbers, value) {
  const canvas = byId("plot");
  const place = across();
  const width = canvas.clientWidth;
  const height = window.matchMedia("(max-width: 40rem)").matches ? HEIGHT.narrow : HEIGHT.wide;
  const box = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const xs = grids[place].filter((number) => number > 0);
  const over = (f) => xs.map((at) => f(...withNumber(numbers, place, at)));
  const [bound, regions] = [over(compiled.bound), intervals(numbers, place, xs)];
  const [spanX, spanY] = [[xs[0], xs.at(-1)], heights(bound, regions, xs, value)];
  const [x, y] = [scale(spanX, box.left, box.right), scale(spanY, box.bottom, box.top)];
  canvas.replaceChildren();
  canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
  canvas.setAttribute("height", height);
  const defs = draw(canvas, "defs", {});
  const hatching = draw(defs, "pattern", { id: "hatching", width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  draw(hatching, "path", { d: "M0 0V8", class: "hatch" });
  const clip = draw(defs, "clipPath", { id: "inside" });
  draw(clip, "rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top });
  draw(canvas, "rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, class: "allowed" });
  grid(canvas, spanX, spanY, x, y, box);
  draw(canvas, "text", { transform: `translate(12 ${(box.top + box.bottom) / 2}) rotate(-90)` }, byId("vertical").textContent);
  const curves = draw(canvas, "g", { "clip-path": "url(#inside)", fill: "none" });
  draw(curves, "path", { d: path(xs, bound, x, y), class: "bound" });
  compiled.left.forEach((left) => draw(curves, "path", { d: path(xs, over(left), x, y), class: "left" }));
  compiled.terms.forEach((term, n) => {
    const look = { stroke: looks[n].colour, "stroke-dasharray": looks[n].dash };
    draw(curves, "path", { d: path(xs, over(term), x, y), class: "term", ...look });
  });
  shade(canvas, regions, x, box);
  if (!bound.some((at) => at > 0 && Number.isFinite(at))) {
    const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    draw(canvas, "text", { ...middle, class: "note" }, "not above zero: nothing to draw on this scale");
  }
  if (numbers[place] > 0) {
    draw(canvas, "path", { d: `M${x(numbers[place])} ${box.top}V${box.bottom}`, class: "here" });
    if (value > 0 && Number.isFinite(value)) draw(canvas, "circle", { cx: x(numbers[place]), cy: y(value), r: 5, class: "here" });
  }
  canvas.setAttribute("aria-label", described(place, xs, regions));
}

function described(place, xs, regions) {
  const name = byId("across").selectedOptions[0].textContent;
  const said = regions.map(([low, high]) => `from ${shown(low)} to ${shown(high)}`).join(" and ");
  const allowed = !data.operators.length ? "" : `; conditions hold ${said || "nowhere"}`;
  return `${byId("vertical").textContent} over ${name}, from ${shown(xs[0])} to ${shown(xs.at(-1))}${allowed}`;
}

/* Interaction */

function update() {
  const numbers = present();
  numbers.forEach((number, n) => {
    const digits = Number.isInteger(number) || Number(number.toPrecision(3)) === number ? ALL_DIGITS : DIGITS;
    put(`value-${n}`, number, digits);
    sliders[n].setAttribute("aria-valuetext", shown(number, digits));
    if (isFollowed(n)) sliders[n].value = nearestPlace(n, number);
  });
  const value = compiled.bound(...numbers);
  const all = decisions(numbers);
  headline(value, all);
  tables(numbers, value);
  conditions(all);
  byId("axis-symbol").replaceChildren(...document.querySelectorAll(".symbol")[across()].cloneNode(true).childNodes);
  plot(numbers, value);
}

/* Move the slider of the horizontal axis to the value closest to the pointer while a button is pressed. */
function follow(event) {
  if (event.buttons !== 1) return;
  const place = across();
  const frame = byId("plot").getBoundingClientRect();
  const positive = grids[place].filter((number) => number > 0);
  const x = scale([positive[0], positive.at(-1)], MARGIN.left, frame.width - MARGIN.right);
  const distances = grids[place].map((number) => (number > 0 ? Math.abs(x(number) - (event.clientX - frame.left)) : Infinity));
  sliders[place].value = distances.indexOf(Math.min(...distances));
  update();
}

/* Divide the sliders around the values of a problem, and start there. */
function begin(problem) {
  grids = problem.sliders.map((slider, place) => numbersOf(slider, [problem.numbers[place]]));
  sliders.forEach((slider, place) => {
    slider.max = grids[place].length - 1;
    slider.value = grids[place].indexOf(problem.numbers[place]);
  });
}

/* Use the best comparator of the selected problem with the values of its run, or a slider for each constant. */
function choose() {
  best = data.problems[byId("point").value] ?? null;
  if (best !== null) begin(best);
  sliders.forEach((slider, place) => {
    slider.disabled = isFollowed(place);
    byId("across").options[place].disabled = isFollowed(place);
  });
  if (isFollowed(across())) byId("across").value = data.length[0];
  byId("best-point").hidden = best === null;
  byId("any-point").hidden = best !== null;
  update();
}

byId("explorer").hidden = false;
const restart = data.problems ? choose : update;
document.querySelector(".sliders").addEventListener("input", update);
document.querySelector(".sliders").addEventListener("reset", () => setTimeout(restart));
if (data.problems) byId("point").addEventListener("change", choose);
byId("across").addEventListener("change", update);
["pointerdown", "pointermove"].forEach((kind) => byId("plot").addEventListener(kind, follow));
document.querySelector(".sliders").addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("resize", () => plot(present(), compiled.bound(...present())));
restart();
