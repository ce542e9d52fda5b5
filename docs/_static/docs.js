// What scrolls sideways can be scrolled by keyboard; two landmarks of the theme get their names.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const name = (place, words) => document.querySelector(place)?.setAttribute("aria-label", words);
  name(".sidebar-drawer", "All pages");
  name(".toc-drawer", "On this page");
  const boxes = document.querySelectorAll(".table-wrapper, .highlight pre, div.math, pre");
  const look = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const seen = new ResizeObserver(look);
  seen.observe(document.body);
  look();
});
