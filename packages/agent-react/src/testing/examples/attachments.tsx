import { useAttachments, useCommands } from "../../index.js";

export function Composer() {
  const { send } = useCommands();
  const { files, parts, isUploading, add, remove, clear } = useAttachments();

  function submit(form: FormData) {
    void send([{ type: "text", text: `${form.get("text")}` }, ...parts]);
    clear();
  }

  return (
    <form action={submit}>
      <input type="file" multiple onChange={(event) => add(event.target.files ?? [])} />
      {files.map(({ key, name, state, problem }) => (
        <button key={key} type="button" onClick={() => remove(key)}>
          {name}: {problem ?? state}
        </button>
      ))}
      <input name="text" />
      <button type="submit" disabled={isUploading}>
        Send
      </button>
    </form>
  );
}
