// "Improve this translation" takes along the sentence that is selected on the page.
{
  const box = document.querySelector(".improve-translation");
  const link = box.querySelector("a");
  const known = link.href;
  box.querySelector("[hidden]").hidden = false;
  function quote() {
    const selection = getSelection();
    const address = new URL(known);
    const sentence = selection.toString().trim().slice(0, 500);
    if (sentence && box.parentElement.contains(selection.getRangeAt(0).commonAncestorContainer)) {
      address.searchParams.set("sentence", sentence);
    }
    link.href = address;
  }
  // before the click, which may end the selection
  for (const type of ["pointerdown", "keydown"]) link.addEventListener(type, quote);
}
