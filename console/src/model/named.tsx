/** Shows a part of the model by its key. Its name is also shown if it differs from the key. */
export function Named({ of: key, name }: { readonly of: string; readonly name: string }) {
  return (
    <span>
      <code>{key}</code> {name === key ? null : <span className="soft">{name}</span>}
    </span>
  )
}
