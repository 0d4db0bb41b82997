// The list of questions, a little nicer: rows are hidden while one types, a choice needs no button,
// and answers that were being computed appear. Without this script the form does the same.

const form = document.querySelector(".finder");
const field = form.querySelector("input");
const AGAIN = 2000;
const MOST = 60;

function hide() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of document.querySelectorAll("#list .rows > li")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  for (const list of document.querySelectorAll("#list .rows")) {
    const empty = !list.querySelector(":scope > li:not([hidden])");
    list.hidden = empty;
    list.previousElementSibling.hidden = empty;
  }
}

async function renew(left) {
  const list = document.getElementById("list");
  if (!left || list.dataset.pending === "0") return;
  await new Promise((done) => setTimeout(done, AGAIN));
  if (document.hidden || document.activeElement?.closest("#list")) return renew(left - 1);
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    list.replaceWith(document.adoptNode(page.getElementById("list")));
  } catch {
    return; // the server is away: the page stays as it is
  }
  hide();
  return renew(left - 1);
}

field.addEventListener("input", hide);
for (const choice of form.querySelectorAll("select")) {
  choice.addEventListener("change", () => form.requestSubmit());
}
renew(MOST);
