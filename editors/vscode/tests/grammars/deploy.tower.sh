# SYNTAX TEST "text.tower.shell" "Intents in shell scripts"
kubectl rollout restart ${params.app} $${cluster.name} $HOME
#                       ^^ punctuation.section.embedded.begin.tower
#                         ^^^^^^ meta.reference.tower variable.language.tower
#                               ^^^^ variable.other.property.tower
#                                   ^ punctuation.section.embedded.end.tower
#                                     ^ - meta.reference.tower
#                                        ^^^^^^^ variable.language.tower
#                                                      ^^^^^ - meta.reference.tower
wrong ${Params.app} ${a b} ${a.${b}} ${open
#     ^^^^^^^^^^^^^ invalid.illegal.reference.tower
#                   ^^^ invalid.illegal.reference.tower
#                          ^^^^^^^^ invalid.illegal.reference.tower
#                                    ^^^^^^ invalid.illegal.reference.tower
next ${params.a}
#      ^^^^^^ variable.language.tower
