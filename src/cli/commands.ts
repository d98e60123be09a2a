/**
 * List of the commands in the order of the help text. The implementation of a command is loaded when it is
 * called: `apply` and `test` run an in-process service, and loading it would take longer than the request of
 * `check`.
 */
import type { CommandListing } from './command.ts'

export const COMMANDS: readonly CommandListing[] = [
  {
    usage: 'check <user> <action> <resource>',
    description: 'May this user do this on that resource? Exit code 0: yes, 1: no',
    load: async () => (await import('#cli/commands/check.ts')).checkCommand,
  },
  {
    usage: 'bulk <file>',
    description: 'Answers the questions of a file, one a line. Exit code 0: all are allowed',
    load: async () => (await import('#cli/commands/bulk.ts')).bulkCommand,
  },
  {
    usage: 'list',
    description: 'Lists resources, users or actions: everything for which a check says yes',
    load: async () => (await import('#cli/commands/list.ts')).listCommand,
  },
  {
    usage: 'explain <user> <action> <resource>',
    description: 'Why is this allowed, or denied? Exit code as of check',
    load: async () => (await import('#cli/commands/explain.ts')).explainCommand,
  },
  {
    usage: 'test <files..>',
    description: 'Tries the tests of model files, without a server',
    load: async () => (await import('#cli/commands/test.ts')).testCommand,
  },
  {
    usage: 'apply <file>',
    description: 'Brings an environment to the state of a model file, after showing the plan',
    load: async () => (await import('#cli/commands/apply.ts')).applyCommand,
  },
  {
    usage: 'grant <user> <role> [on|in] [place]',
    description: 'Gives a user or a group a role, for a time or for good',
    load: async () => (await import('#cli/commands/grant.ts')).grantCommand,
  },
  {
    usage: 'revoke <user> <role> [on|in] [place]',
    description: 'Takes a role from a user or a group',
    load: async () => (await import('#cli/commands/revoke.ts')).revokeCommand,
  },
  {
    usage: 'watch',
    description: 'Prints what changes in an environment, as it changes',
    load: async () => (await import('#cli/commands/watch.ts')).watchCommand,
  },
  {
    usage: 'load <file>',
    description: 'Adds facts, condition sets and rules to what is there, one a line',
    load: async () => (await import('#cli/commands/load.ts')).loadCommand,
  },
  {
    usage: 'export [file]',
    description: 'Writes everything in an environment, as of one moment, one thing a line',
    load: async () => (await import('#cli/commands/export.ts')).exportCommand,
  },
  {
    usage: 'import <file>',
    description: 'Puts what export wrote into an environment, all or nothing; decisions go on meanwhile',
    load: async () => (await import('#cli/commands/import.ts')).importCommand,
  },
  {
    usage: 'backup <file>',
    description: 'Writes everything in the embedded store, keys included, while the service runs',
    load: async () => (await import('#cli/commands/backup.ts')).backupCommand,
  },
  {
    usage: 'restore <file> <directory>',
    description: 'Makes the directory of an embedded store out of a backup',
    load: async () => (await import('#cli/commands/restore.ts')).restoreCommand,
  },
  {
    usage: 'status',
    description: 'Is the service there and ready, and what is in the environment?',
    load: async () => (await import('#cli/commands/status.ts')).statusCommand,
  },
  {
    usage: 'keys',
    description: 'Lists, makes, rotates and revokes API keys',
    load: async () => (await import('#cli/commands/keys.ts')).keysCommand,
  },
  {
    usage: 'project',
    description: 'Lists, makes, renames and deletes projects',
    load: async () => (await import('#cli/commands/project.ts')).projectCommand,
  },
  {
    usage: 'env',
    description: 'Lists, makes, copies, renames and deletes environments of a project',
    load: async () => (await import('#cli/commands/env.ts')).envCommand,
  },
  {
    usage: 'schema',
    description: 'Prints the JSON Schema of model files',
    load: async () => (await import('#cli/commands/schema.ts')).schemaCommand,
  },
  {
    usage: 'completion [shell]',
    description: 'Prints a script that makes bash, zsh or fish complete commands and options',
    load: async () => (await import('#cli/commands/completion.ts')).completionCommand,
  },
  {
    usage: 'serve',
    description: 'Runs the service here; verdict serve --help lists its settings',
    load: async () => (await import('#cli/commands/serve.ts')).serveCommand,
  },
]
