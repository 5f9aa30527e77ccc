// Fills the page from its data.

const data = JSON.parse(by_id('data').textContent);
const themes = [['', 'Colours: as the system'], ['light', 'Colours: light'], ['dark', 'Colours: dark']];

function follow_theme_button() {
  const button = by_id('theme');
  let chosen = 0;
  button.addEventListener('click', () => {
    chosen = (chosen + 1) % themes.length;
    const [theme, label] = themes[chosen];
    if (theme) {
      document.documentElement.dataset.theme = theme;
    } else {
      delete document.documentElement.dataset.theme;
    }
    button.textContent = label;
  });
}

function show_contents() {
  by_id('contents').append(element('ul', {}, [...document.querySelectorAll('main > section')].map((section) =>
    element('li', {}, element('a', { href: `#${section.id}` }, section.querySelector('h2').textContent)))));
}

show_run();
show_notices();
show_advice();
show_live_bytes();
show_rates();
show_bands();
show_flames();
show_sizes();
show_lifetimes();
show_replay();
show_fit();
show_sites();
show_contents();
follow_theme_button();
follow_the_window();
