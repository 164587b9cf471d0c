// Formats numbers and times for people.

const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const NOTHING = "–";

export function count(number) {
  return number === null || number === undefined ? NOTHING : whole.format(Math.round(number));
}

export function short(number) {
  return number < 10_000 ? count(number) : compact.format(number);
}

export function counted(number, thing) {
  return `${count(number)} ${thing}${number === 1 ? "" : "s"}`;
}

export function signed(number) {
  return `${number < 0 ? "−" : "+"}${count(Math.abs(number))}`;
}

export function percent(share, digits = 0) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(digits)}%` : NOTHING;
}

export function dollars(amount) {
  if (amount === null || amount === undefined) return NOTHING;
  const size = Math.abs(amount);
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
  return `${amount < 0 ? "−" : ""}$${size.toFixed(digits)}`;
}

export function times(ratio) {
  return Number.isFinite(ratio) ? `${ratio.toFixed(ratio < 10 ? 1 : 0)}×` : NOTHING;
}

export function milliseconds(amount) {
  if (!Number.isFinite(amount)) return NOTHING;
  return amount >= 1000 ? `${(amount / 1000).toFixed(1)} s` : `${amount.toFixed(amount < 10 ? 1 : 0)} ms`;
}

export function moment(seconds) {
  if (!Number.isFinite(seconds)) return "";
  const date = new Date(1000 * seconds);
  const today = date.toDateString() === new Date().toDateString();
  const time = date.toLocaleTimeString("en-GB");
  return today ? time : `${date.toLocaleDateString("en-CA")} ${time.slice(0, 5)}`;
}

// Positions start at 0, what people read at 1.
export function span(first, last) {
  return first === last ? `message ${count(first + 1)}` : `messages ${count(first + 1)}–${count(last + 1)}`;
}

export function sentence(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
