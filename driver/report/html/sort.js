document.querySelectorAll('table.sortable').forEach(function (table) {
  var heads = table.tHead.rows[0].cells, body = table.tBodies[0];
  function key(row, column) {
    var cell = row.cells[column], text = cell.getAttribute('data-v') || cell.textContent, number = parseFloat(text);
    return isNaN(number) ? text.trim().toLowerCase() : number;
  }
  Array.prototype.forEach.call(heads, function (head, column) {
    if (!head.textContent.trim() || head.querySelector('svg')) return;
    var button = document.createElement('button');
    button.type = 'button';
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener('click', function () {
      var up = head.getAttribute('aria-sort') !== 'ascending';
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      Array.prototype.slice.call(body.rows).sort(function (a, b) {
        var x = key(a, column), y = key(b, column);
        if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
