/** Results as a table for a terminal of 120 columns or more, and the notes below it. */
export function renderTable(results) {
  const head = ['measurement', 'median', 'min - max', 'baseline', 'against it', 'goal', 'met'];
  const rows = results.map((result) =>
    result.error === undefined
      ? toRow(result)
      : [result.measurement, 'failed', '', '', '', '', '-'],
  );
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const line = (cells, fill = ' ') =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column], fill) : cell.padStart(widths[column], fill),
      )
      .join('  ')
      .trimEnd();
  const notes = results.flatMap(({ measurement, note, error }) => {
    const text = error ?? note;
    return text === null ? [] : [`  ${measurement}: ${text}`];
  });
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
  ].join('\n');
}

function toRow(result) {
  const { unit, comparison, baseline, goal, met } = result;
  const against =
    comparison === null
      ? ''
      : comparison.kind === 'ratio'
        ? `${comparison.value.toFixed(2)}x`
        : `${comparison.value < 0 ? '' : '+'}${show(comparison.value, unit)}`;
  return [
    result.measurement,
    show(result.median, unit),
    `${show(result.min, unit)} - ${show(result.max, unit)}`,
    baseline === null ? '' : show(baseline.median, unit),
    against,
    goal === null ? '' : showGoal(goal, unit),
    met === null ? '' : met ? 'yes' : 'NO',
  ];
}

function showGoal({ compares, limit }, unit) {
  switch (compares) {
    case 'ratio':
      return `<= ${limit}x`;
    case 'difference':
      return `<= +${limit} ${unit}`;
    default:
      return `<= ${limit} ${unit}`;
  }
}

function show(value, unit) {
  const digits = unit === 'bytes' ? 0 : Math.abs(value) < 10 ? 2 : 1;
  return `${value.toFixed(digits)} ${unit}`;
}
