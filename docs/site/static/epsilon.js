// The picture of docs/epsilon.md: randomised response, with sliders. It loads nothing and sends nothing.
"use strict";

const find = (id) => document.getElementById(id);
const DOTS = 100;

/** The probability with which the truth is sent. */
const kept = (epsilon) => Math.exp(epsilon) / (1 + Math.exp(epsilon));

/** The most that somebody who thought 1 in 2 can come to believe. */
const believed = (epsilon) => kept(epsilon);

/** The number of successes of n trials: drawn one by one, or from the normal law where they are many. */
function successes(n, chance) {
  if (n > 2000) {
    const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
    return Math.min(n, Math.max(0, Math.round(n * chance + normal * Math.sqrt(n * chance * (1 - chance)))));
  }
  let count = 0;
  for (let i = 0; i < n; i += 1) count += Math.random() < chance;
  return count;
}

function draw() {
  const epsilon = Number(find("epsilon").value);
  const people = Math.round(10 ** Number(find("people").value));
  const share = Number(find("share").value) / 100;
  const truth = kept(epsilon);
  const holders = Math.round(people * share);
  const heard = successes(holders, truth) + successes(people - holders, 1 - truth);
  const estimate = (heard / people - (1 - truth)) / (2 * truth - 1);
  const error = Math.sqrt((truth * (1 - truth)) / people) / (2 * truth - 1);
  const [low, high] = [estimate - 1.96 * error, estimate + 1.96 * error];
  show(epsilon, people, share, truth, estimate, low, high);
  crowd(share, truth);
}

function show(epsilon, people, share, truth, estimate, low, high) {
  const percent = (number) => `${(100 * number).toFixed(1)}%`;
  const within = (number) => Math.min(1, Math.max(0, number));
  find("epsilon-shown").value = epsilon.toFixed(1);
  find("people-shown").value = people.toLocaleString("en");
  find("share-shown").value = percent(share);
  find("keep").value = percent(truth);
  find("belief").value = percent(believed(epsilon));
  find("estimate").value = `${percent(estimate)} (${percent(low)} to ${percent(high)})`;
  find("band").style.left = `${100 * within(low)}%`;
  find("band").style.width = `${100 * (within(high) - within(low))}%`;
  find("line").style.left = `${100 * share}%`;
}

/** A hundred of the people, each with the answer that it sends. */
function crowd(share, truth) {
  const dots = find("dots");
  dots.replaceChildren();
  for (let i = 0; i < DOTS; i += 1) {
    const holds = i < share * DOTS;
    const honest = Math.random() < truth;
    const dot = document.createElement("i");
    dot.className = `${holds === honest ? "yes" : "no"}${honest ? "" : " lied"}`;
    dots.append(dot);
  }
}

for (const id of ["epsilon", "people", "share"]) find(id).addEventListener("input", draw);
find("again").addEventListener("click", draw);
draw();
