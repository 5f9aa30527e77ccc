// What acre fit found: which sizes of a multi_arena are enough.

function show_fit() {
  if (!data.fit) {
    by_id('fit').remove();
    return;
  }
}
