// Search, filters, links to cards, and printing. Without it the page shows all cards.
"use strict";

(() => {
  const MOST_PRINTED = 30; // cards that are opened for printing; of more, those that are open
  const cards = [...document.querySelectorAll(".card")];
  const models = [...document.querySelectorAll(".model")];
  const form = document.querySelector(".filters");

  function open(element) {
    for (let e = element; e; e = e.parentElement) {
      if (e.tagName === "DETAILS") e.open = true;
    }
  }

  function goToCard() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (const hidden of [target, target.closest(".model")]) hidden?.classList.remove("away");
    open(target);
    target.scrollIntoView();
    target.querySelector("summary")?.focus({ preventScroll: true });
  }

  if (form) {
    const search = form.querySelector("[type=search]");
    const boxes = [...form.querySelectorAll("[type=checkbox]")];
    const shown = form.querySelector("output");
    let texts = null; // of the lines that are searched, made when they are

    function filter() {
      texts ??= new Map(
        [...cards, ...models].map((e) => [e, e.firstElementChild.textContent.toLowerCase()]),
      );
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kinds = boxes.filter((box) => box.checked).map((box) => box.value);
      const has = (element) => words.every((word) => texts.get(element).includes(word));
      const left = new Set();
      let count = 0;
      for (const card of cards) {
        const model = card.closest(".model");
        const matches = has(card) || (model !== null && has(model));
        const stays = matches && kinds.some((kind) => card.classList.contains(kind));
        card.classList.toggle("away", !stays);
        count += stays;
        if (stays && model) left.add(model);
      }
      const all = words.length === 0 && kinds.length === boxes.length;
      for (const model of models) {
        model.classList.toggle("away", !(all || left.has(model) || (words.length > 0 && has(model))));
      }
      shown.textContent = `${count} of ${cards.length} shown`;
    }

    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    for (const button of form.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        const isOpen = button.dataset.open === "true";
        for (const element of [...models, ...cards]) {
          if (!element.classList.contains("away")) element.open = isOpen;
        }
      });
    }
    document.addEventListener("keydown", (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        search.focus();
      }
    });
    shown.textContent = `${cards.length} of ${cards.length} shown`;
    if (search.value || boxes.some((box) => !box.checked)) filter(); // kept by a reload
  }

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = cards.length > MOST_PRINTED ? [] : cards.filter((card) => !card.open);
    for (const card of closed) card.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const card of closed) card.open = false;
  });
  window.addEventListener("hashchange", goToCard);
  goToCard();
})();
