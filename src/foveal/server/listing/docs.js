// Lists the routes of openapi.json on the page. Everything is inserted as text.

const make = (tag, text = "", ...children) => {
  const element = document.createElement(tag);
  element.textContent = text;
  element.append(...children);
  return element;
};

const resolve = (schema, all) => {
  const name = schema?.$ref?.split("/").pop();
  return name ? all.components.schemas[name] : schema;
};

const typeOf = (schema) => {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return some.map(typeOf).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items) || "anything"}`;
  return schema.type ?? "anything";
};

const table = (title, rows) => {
  if (!rows.length) return [];
  const head = make("tr", "", ...["field", "type", ""].map((each) => make("th", each)));
  const body = rows.map(([name, type, note]) =>
    make("tr", "", make("td", "", make("code", name)), make("td", type), make("td", note)));
  return [make("h3", title), make("table", "", head, ...body)];
};

const fields = (schema, all) => {
  const found = resolve(schema, all);
  return Object.entries(found?.properties ?? {}).map(([name, each]) =>
    [name, typeOf(each), found.required?.includes(name) ? "required" : ""]);
};

const jsonOf = (content) => content?.["application/json"];

const shown = (method, path, route, all) => {
  const line = make("summary", "", make("span", method.toUpperCase()), make("code", path),
    make("span", ` ${route.summary ?? ""}`));
  line.firstChild.className = "method";
  const parameters = (route.parameters ?? []).map((each) =>
    [each.name, typeOf(each.schema), `${each.in}${each.required ? ", required" : ""}`]);
  const body = jsonOf(route.requestBody?.content);
  const success = Object.entries(route.responses).find(([status]) => status.startsWith("2"));
  const response = jsonOf(success?.[1].content);
  const example = response?.example ?? response?.schema?.example;
  return make("details", "", line, make("p", route.description ?? ""),
    ...table("Parameters", parameters),
    ...table("Body", fields(body?.schema, all)),
    ...table(`Response ${success?.[0] ?? ""}: ${typeOf(response?.schema)}`, fields(response?.schema, all)),
    ...(example === undefined ? [] : [make("pre", JSON.stringify(example, null, 2))]));
};

const start = async () => {
  const main = document.getElementById("routes");
  const all = await (await fetch("/openapi.json")).json();
  const groups = new Map();
  for (const [path, methods] of Object.entries(all.paths)) {
    for (const [method, route] of Object.entries(methods)) {
      const group = route.tags?.[0] ?? "the server";
      groups.set(group, [...(groups.get(group) ?? []), shown(method, path, route, all)]);
    }
  }
  main.replaceChildren(...[...groups].map(([name, routes]) => make("section", "", make("h2", name), ...routes)));
  document.getElementById("find").addEventListener("input", ({ target }) => {
    const words = target.value.toLowerCase();
    for (const route of main.querySelectorAll("details")) {
      route.hidden = !route.textContent.toLowerCase().includes(words);
    }
  });
};

start().catch(() => {
  document.getElementById("routes").textContent = "The list cannot be read. Is the server running?";
});
