// What the small pages of the demo site do, by the page's name.
'use strict';

const id = (name) => document.getElementById(name);
const json = async (url, options) => (await fetch(url, options)).json();

function make(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

const pages = {
  // More notes come when the end of the list is near.
  feed() {
    const list = id('feed');
    let busy = false;
    let more = true;
    const load = async () => {
      if (busy || !more) return;
      busy = true;
      list.ariaBusy = 'true';
      const answer = await json(`/demo/api/feed?after=${list.children.length}`);
      for (const note of answer.notes) list.append(make('li', note));
      more = answer.more;
      if (!more) id('feed-end').textContent = 'That was all';
      list.ariaBusy = 'false';
      busy = false;
    };
    new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting)) void load(); }, { rootMargin: '100px' }).observe(id('feed-end'));
    addEventListener('scroll', () => { if (innerHeight + scrollY > document.documentElement.scrollHeight - 100) void load(); });
  },

  search() {
    const field = id('city');
    const list = id('suggestions');
    let timer = 0;
    const choose = (city) => {
      field.value = city;
      id('chosen').textContent = `You chose ${city}`;
      show([]);
    };
    const show = (found) => {
      list.replaceChildren(...found.map((city) => make('li', city, { role: 'option', onclick: () => choose(city) })));
      list.hidden = !found.length;
      field.ariaExpanded = String(found.length > 0);
    };
    field.addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const typed = field.value;
        const found = await json(`/demo/api/cities?q=${encodeURIComponent(typed)}`);
        if (field.value === typed) show(found);
      }, 150);
    });
    field.addEventListener('keydown', (event) => {
      const chosen = list.querySelector('[aria-selected=true]');
      if (event.key === 'ArrowDown' && list.firstChild) {
        const next = chosen?.nextSibling ?? list.firstChild;
        if (chosen) chosen.ariaSelected = 'false';
        next.ariaSelected = 'true';
        event.preventDefault();
      } else if (event.key === 'Enter' && chosen) {
        choose(chosen.textContent);
      } else if (event.key === 'Escape') {
        show([]);
      }
    });
  },

  account() {
    id('with-id').addEventListener('click', () => open('/demo/account/consent', 'consent', 'popup,width=420,height=480'));
    addEventListener('message', (event) => {
      if (event.origin !== location.origin || event.data?.kind !== 'demo-consent') return;
      id('who').textContent = event.data.name ? `Signed in as ${event.data.name}` : 'You said no.';
    });
  },

  consent() {
    const answer = (name) => {
      opener?.postMessage({ kind: 'demo-consent', name }, location.origin);
      close();
    };
    id('allow').addEventListener('click', () => answer(id('consent-name').value));
    id('deny').addEventListener('click', () => answer(''));
  },

  checkout() {
    addEventListener('message', (event) => {
      if (event.origin === location.origin && event.data?.kind === 'demo-paid') id('paid').textContent = `Paid with the card that ends in ${event.data.last}`;
    });
  },

  card() {
    const form = id('card-form');
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const digits = form.number.value.replace(/\D/g, '');
      const ok = digits.length === 16 && /^\d\d\/\d\d$/.test(form.expiry.value) && /^\d{3}$/.test(form.cvc.value);
      id('card-error').hidden = ok;
      id('card-error').textContent = ok ? '' : 'Please check the card: sixteen digits, MM/YY and three digits.';
      if (ok) parent.postMessage({ kind: 'demo-paid', last: digits.slice(-4) }, location.origin);
    });
  },

  lamp() {
    const knob = id('knob');
    const track = id('track');
    let grip = null;
    const set = (x) => {
      const room = track.clientWidth - knob.offsetWidth;
      const at = Math.max(0, Math.min(room, x));
      knob.style.left = `${at}px`;
      const value = String(Math.round((100 * at) / room));
      id('brightness').value = value;
      knob.ariaValueNow = value;
    };
    knob.addEventListener('pointerdown', (event) => {
      grip = event.clientX - knob.offsetLeft;
      knob.setPointerCapture(event.pointerId);
    });
    knob.addEventListener('pointermove', (event) => { if (grip !== null) set(event.clientX - grip); });
    knob.addEventListener('pointerup', () => { grip = null; });
    knob.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 4, ArrowLeft: -4 }[event.key];
      if (step) set(knob.offsetLeft + step);
    });
  },

  wizard() {
    const form = id('wizard');
    let step = 1;
    const problem = () => ({
      1: !form.name.value.trim() ? 'Please say who you are.' : !form.email.value.includes('@') || !form.email.validity.valid ? 'That is not an email address.' : '',
      2: form.day.value ? '' : 'Please choose a day.',
      3: form.agree.checked ? '' : 'Please agree first.',
    })[step];
    const show = (to) => {
      step = to;
      for (const part of form.querySelectorAll('fieldset')) part.hidden = part.dataset.step !== String(step);
      id('step').textContent = step > 3 ? `Booked: ${id('summary').textContent}` : `Step ${step} of 3`;
      id('back').disabled = step === 1 || step > 3;
      id('next').hidden = step > 3;
      id('next').textContent = step === 3 ? 'Book' : 'Next';
    };
    id('next').addEventListener('click', () => {
      const wrong = problem();
      id('wizard-error').textContent = wrong;
      id('wizard-error').hidden = !wrong;
      if (wrong) return;
      id('summary').textContent = `${form.name.value}, ${form.guests.value} guests on ${form.day.value}`;
      show(step + 1);
    });
    id('back').addEventListener('click', () => show(step - 1));
  },

  weather() {
    const ask = async () => {
      try {
        const response = await fetch('/demo/api/weather');
        if (!response.ok) throw new Error(`status ${response.status}`);
        const { city, sky, degrees } = await response.json();
        id('weather').textContent = `${city}: ${sky}, ${degrees} °C`;
      } catch {
        id('weather').textContent = 'The weather could not be asked for.';
      }
    };
    id('again').addEventListener('click', ask);
    void ask();
  },

  dashboard() {
    for (const part of document.querySelectorAll('[data-stat]'))
      void json(`/demo/api/stats/${part.dataset.stat}`).then((stat) => { part.textContent = String(stat.value); });
  },

  todos() {
    const load = async () => {
      const all = await json('/demo/api/todos');
      id('todos').replaceChildren(...all.map((todo) => {
        const line = make('li', '');
        line.append(make('span', todo.text), make('button', 'Done', {
          type: 'button', className: 'plain', ariaLabel: `Done: ${todo.text}`,
          onclick: async () => {
            await fetch(`/demo/api/todos/${todo.id}`, { method: 'DELETE' });
            await load();
          },
        }));
        return line;
      }));
      id('todo-count').textContent = all.length === 1 ? '1 thing to do' : `${all.length} things to do`;
    };
    id('todo-form').addEventListener('submit', async (event) => {
      event.preventDefault();
      await fetch('/demo/api/todos', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text: id('todo-text').value }) });
      id('todo-text').value = '';
      await load();
    });
    void load();
  },

  notes() {
    const say = (text) => { id('notes-status').textContent = text; };
    for (const line of id('notes').children) {
      const name = line.firstChild;
      line.append(
        make('button', 'Rename', { type: 'button', className: 'plain', ariaLabel: `Rename ${name.textContent}`, onclick: () => {
          const text = prompt('A new name', name.textContent);
          if (text) { name.textContent = text; say(`Renamed to ${text}`); }
        } }),
        make('button', 'Delete', { type: 'button', className: 'plain', ariaLabel: `Delete ${name.textContent}`, onclick: () => {
          if (!confirm(`Delete ${name.textContent}?`)) { say('Kept'); return; }
          line.remove();
          alert('It is gone.');
          say('Deleted');
        } }),
      );
    }
  },

  members() {
    const box = id('compact');
    box.checked = localStorage.getItem('demo-compact') === 'yes';
    box.addEventListener('change', () => localStorage.setItem('demo-compact', box.checked ? 'yes' : 'no'));
  },

  nearby() {
    const shops = [['Paris', 48.8566, 2.3522], ['Rome', 41.9028, 12.4964], ['Oslo', 59.9139, 10.7522]];
    id('locate').addEventListener('click', () => navigator.geolocation.getCurrentPosition(({ coords }) => {
      const far = ([, north, east]) => Math.hypot(north - coords.latitude, (east - coords.longitude) * Math.cos((coords.latitude * Math.PI) / 180));
      const [name] = shops.toSorted((a, b) => far(a) - far(b))[0];
      id('nearest').textContent = `The nearest shop is in ${name}.`;
    }, () => { id('nearest').textContent = 'You did not tell.'; }));
  },

  menu() {
    id('menu-button').addEventListener('click', () => {
      const open = id('menu-list').classList.toggle('open');
      id('menu-button').ariaExpanded = String(open);
    });
  },

  shelf() {
    const style = new CSSStyleSheet();
    style.replaceSync('button { font: inherit; padding: 4px 12px; margin-left: 8px; border: 0; border-radius: 8px; background: #e6ebf1; cursor: pointer }');
    customElements.define('demo-counter', class extends HTMLElement {
      count = 0;

      connectedCallback() {
        const root = this.attachShadow({ mode: 'open' });
        root.adoptedStyleSheets = [style];
        const shown = make('output', '0');
        const button = make('button', 'More', { type: 'button', ariaLabel: `More ${this.getAttribute('label')}`, onclick: () => {
          shown.value = String(++this.count);
          this.dispatchEvent(new CustomEvent('count', { bubbles: true, composed: true }));
        } });
        root.append(make('span', `${this.getAttribute('label')}: `), shown, ' ', button);
      }
    });
    addEventListener('count', () => {
      id('together').value = String([...document.querySelectorAll('demo-counter')].reduce((sum, counter) => sum + counter.count, 0));
    });
  },
};

pages[document.body.className.replace('at-', '')]?.();
