// TypeScript with all its types: interfaces, generics, classes and enums. Types
// are removed before the script runs, and you need not compile anything.
import type { Locator, Page } from '@playwright/test';

interface Item { readonly name: string; readonly cents: number }

enum Order { Cheapest, Dearest }

class Catalog {
  constructor(private readonly page: Page) {}

  private get rows(): Locator { return this.page.locator('.items li'); }

  async read(): Promise<Item[]> {
    return Promise.all((await this.rows.all()).map(async (row): Promise<Item> => ({
      name: (await row.getByRole('link').textContent()) ?? '',
      cents: Math.round(parseFloat((await row.locator('.price').textContent())!) * 100),
    })));
  }
}

const pick = <T, K extends keyof T>(from: readonly T[], key: K): T[K][] => from.map(one => one[key]);

function sorted(items: Item[], by: Order = Order.Cheapest): Item[] {
  return items.toSorted((a, b) => (by === Order.Cheapest ? 1 : -1) * (a.cents - b.cents));
}

await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/catalog?page=2`);
const items = await new Catalog(page).read();
return { dearest: sorted(items, Order.Dearest)[0]!.name, names: pick(items, 'name') satisfies string[] };
