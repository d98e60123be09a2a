/** `verdict schema`: prints the JSON Schema of model files, for editors. */
import type { Command } from '#cli/session/command.ts'
import { modelFileSchema } from '#entities/model-file.ts'

export const schemaCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command.example('$0 schema > model-file.schema.json', 'for editors that complete and validate YAML'),
    run(async session => {
      session.streams.stdout.write(`${modelFileSchema()}\n`)
    }),
  )
