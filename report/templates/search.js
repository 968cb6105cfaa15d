// Filters the statements of the front page by words, verdict and kind; hides the sources while a filter is set.
(() => {
  const greek = "αalpha βbeta γgamma δdelta εepsilon ζzeta ηeta θtheta κkappa λlambda μmu νnu ξxi πpi ρrho σsigma Σsigma τtau φphi χchi ψpsi ωomega";
  const names = new Map(greek.split(" ").map((pair) => [pair[0], pair.slice(1)]));
  // Replaces Greek letters by their names, and removes LaTeX commands' backslashes and braces.
  const plain = (text) => [...text].map((letter) => names.get(letter) ?? letter).join("").toLowerCase().replace(/[\\{}]/g, "");
  const tight = (text) => text.replace(/\s+/g, "");
  const form = document.querySelector("form.search"), [words, verdict, kind] = form.querySelectorAll("input, select");
  const rows = [...document.querySelectorAll("tr[data-text]")].map((row) => {
    const text = plain(row.textContent + " " + row.dataset.text);
    return { row, text, tight: tight(text) };
  });
  const update = () => {
    const asked = plain(words.value).trim(), parts = asked.split(/\s+/);
    let count = 0;
    for (const { row, text, tight: formula } of rows) {
      const matches = parts.every((part) => text.includes(part)) || formula.includes(tight(asked));
      row.hidden = !(matches && [verdict, kind].every((filter) => !filter.value || row.dataset[filter.name] === filter.value));
      count += !row.hidden;
    }
    document.getElementById("sources").hidden = Boolean(asked || verdict.value || kind.value);
    for (const part of document.querySelectorAll(".found-in")) part.hidden = !part.querySelector("tr[data-text]:not([hidden])");
    form.querySelector("output").textContent = `${count} of ${rows.length} statements`;
  };
  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
