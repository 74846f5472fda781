// The button that copies the link to the workspace, which keep_link.js has left in window.svmvizLink.

const [SAID, COMPLAINED] = [1500, 6000]; // milliseconds for which the answer stays

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

export default function copier({ parentElement }) {
  const button = parentElement.querySelector(".copy");
  const said = parentElement.querySelector(".said");
  if (button.dataset.ready) return;
  button.dataset.ready = "true";
  let timer = null;
  button.addEventListener("click", async () => {
    const [text, milliseconds] = await copyLink();
    clearTimeout(timer);
    said.textContent = text;
    said.hidden = false;
    timer = setTimeout(() => { said.hidden = true; }, milliseconds);
  });
}
