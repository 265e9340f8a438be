// Amounts of money and averages, as the reader's region writes them.

import { locale } from "./words";

export function decimal(value: number): string {
  return new Intl.NumberFormat(locale.value, { maximumSignificantDigits: 3 }).format(value);
}

export function dollars(value: number): string {
  const shape = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  const digits = value < 1 ? { maximumSignificantDigits: 2 } : {};
  return new Intl.NumberFormat(locale.value, { ...shape, ...digits }).format(value);
}
