// The button that copies the link to the workspace, which keep_link.js has left in window.svmvizLink.

const [SAID, COMPLAINED, WARNED] = [1500, 6000, 12000]; // milliseconds for which the answer stays

/** Copy a text, also where the clipboard is closed to pages without a certificate; whether it has been copied. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/** What comes of it, in words; an error says what to do instead. */
async function copyLink() {
  const { query, problem } = window.svmvizLink ?? {};
  if (problem) return [problem, COMPLAINED];
  const copied = await copyText(`${location.origin}${location.pathname}${query ? `?${query}` : ""}`);
  return copied ? ["Copied", SAID] : ["The browser lets no page copy: copy the address above.", COMPLAINED];
}

/** Say once that the address does not hold all points; once more when there were fewer in between. */
function warnOfLoss(say) {
  const loss = window.svmvizLink?.loss;
  if (loss && !window.svmvizWarned) say(loss, WARNED);
  window.svmvizWarned = Boolean(loss);
}

export default function copier({ parentElement }) {
  const button = parentElement.querySelector(".copy");
  const said = parentElement.querySelector(".said");
  if (button.dataset.ready) return;
  button.dataset.ready = "true";
  let timer = null;
  const say = (text, milliseconds) => {
    clearTimeout(timer);
    said.textContent = text;
    said.hidden = false;
    timer = setTimeout(() => { said.hidden = true; }, milliseconds);
  };
  button.addEventListener("click", async () => say(...(await copyLink())));
  window.addEventListener("svmviz-link", function warn() {
    if (!said.isConnected) return window.removeEventListener("svmviz-link", warn);
    return warnOfLoss(say);
  });
  warnOfLoss(say);
}
