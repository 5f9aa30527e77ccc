// Finds flaws in the look of a page, as lists of sentences. The functions run in the page.

// Texts with a contrast below 4.5 to 1.
export function contrast_problems() {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, below) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map((i) => top[i] * alpha + below[i] * (1 - alpha));
  };
  const behind = (element) => {
    const colours = [];
    for (let each = element; each; each = each.parentElement)
      colours.push(channels(getComputedStyle(each).backgroundColor));
    return colours.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const problems = [];
  for (const element of document.querySelectorAll('body *')) {
    const own_text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const box = element.getBoundingClientRect();
    if (!own_text || box.width === 0 || element.closest('script, noscript, title')) continue;
    const style = getComputedStyle(element);
    const in_plot = element instanceof SVGElement;
    let paper = behind(element.closest('svg')?.parentElement || element);
    const rect = in_plot ? element.closest('g')?.querySelector('rect') : null;
    if (rect) {
      const shown = getComputedStyle(rect);
      paper = over([...channels(shown.fill).slice(0, 3), Number(shown.opacity)], paper);
    }
    const ink = over(channels(in_plot ? style.fill : style.color), paper);
    const [light, dark] = [luminance(ink), luminance(paper)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) problems.push(`${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(problems)];
}

// Texts that overlap in a plot or reach beyond it.
export function overlapping_texts() {
  const problems = [];
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((each) => [each.textContent, each.getBoundingClientRect()])
      .filter(([, box]) => box.width > 0);
    texts.forEach(([text, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1) problems.push(`'${text}' sticks out`);
      for (const [other, its] of texts.slice(i + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 1 && down > 3) problems.push(`'${text}' lies on '${other}'`);
      }
    });
  }
  return problems.slice(0, 10);
}

// Elements that make the page wider than the window.
export function overflowing() {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  return [...document.querySelectorAll('body *')].filter(
    (each) => each.getBoundingClientRect().right > room + 1 && !each.closest('.scroll, pre, svg'))
    .map((each) => `${each.tagName} ${each.id} ${each.className}`).slice(0, 5);
}
