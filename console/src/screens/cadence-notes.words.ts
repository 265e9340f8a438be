import { words } from "../words";

export const say = words({
  en: {
    surprises: "What may surprise",
    opinion: "Second opinion",
    six_fields:
      "Six fields begin with the second. If this is EventBridge's, which begin with the minute " +
      "and end with the year, write {written}",
    numbers:
      "In day-of-week {written} Sunday is 0 or 7 and Monday 1. Quartz and EventBridge count " +
      "from Sunday 1; names are the same everywhere.",
    minutes: {
      one:
        "{written} restarts each hour: from minute {last} to the next {first} it is one minute. " +
        "{even} is even.",
      other:
        "{written} restarts each hour: from minute {last} to the next {first} it is {n} minutes. " +
        "{even} is even.",
    },
    hours: {
      one: "{written} restarts each day: from hour {last} to the next {first} it is one hour. {even} is even.",
      other:
        "{written} restarts each day: from hour {last} to the next {first} it is {n} hours. {even} is even.",
    },
    each_minute: "Minute * runs in each minute of the hour. To run once in it, write {once}",
    each_second: "Second * runs in each second of the minute. To run once in it, write {once}",
    days: "{written} restarts on the 1st of each month. {even} is even.",
    months: {
      one: "Month {written} restarts each year: from month {last} to the next 1 it is one month.",
      other: "Month {written} restarts each year: from month {last} to the next 1 it is {n} months.",
    },
    weekdays: {
      one:
        "Day-of-week {written} restarts each Sunday: from day {last} to the next 0 it is one " +
        "day. Name the weekdays, as in MON,WED,FRI.",
      other:
        "Day-of-week {written} restarts each Sunday: from day {last} to the next 0 it is {n} " +
        "days. Name the weekdays, as in MON,WED,FRI.",
    },
    wraps: "{field} {written} is {low} and later, and up to {high}. For those between, write {high}-{low}.",
    alone: "{field} {written} is {low} alone, since its step is longer than its range.",
    dates: "A month without a day {day} is passed over. L is the last day of each.",
    ending:
      "The dates of the calendar {name} end on {day}. Later days have no holidays: deploy with further years.",
    needless: "except_at {written} excludes nothing: it is no time of the cadence.",
    agrees: "croniter agrees, changes of the clocks aside",
    disagrees: "croniter disagrees",
    not_nearest: "Not asked: croniter does not know W and L-n",
    not_beside: "Not asked: croniter reads the L and # of a weekday rightly only where they stand alone",
    not_step: "Not asked: croniter ends FRI/2 on Saturday, where day 7 is still to come",
    not_range: "Not asked: croniter reads a range that wraps, or has one value, as another",
  },
  fr: {
    surprises: "Ce qui peut surprendre",
    opinion: "Deuxième avis",
    six_fields:
      "Six champs commencent par la seconde. Si c'est une expression d'EventBridge, qui " +
      "commence par la minute et finit par l'année, écrivez {written}",
    numbers:
      "Dans le jour de semaine {written}, dimanche est 0 ou 7 et lundi 1. Quartz et " +
      "EventBridge comptent à partir de dimanche 1 ; les noms sont partout les mêmes.",
    minutes: {
      one:
        "{written} recommence à chaque heure : de la minute {last} au {first} suivant, il y a une " +
        "minute. {even} est régulier.",
      other:
        "{written} recommence à chaque heure : de la minute {last} au {first} suivant, il y a {n} " +
        "minutes. {even} est régulier.",
    },
    hours: {
      one:
        "{written} recommence chaque jour : de {last} h au {first} suivant, il y a une heure. {even} " +
        "est régulier.",
      other:
        "{written} recommence chaque jour : de {last} h au {first} suivant, il y a {n} heures. {even} " +
        "est régulier.",
    },
    each_minute: "La minute * s'exécute à chaque minute de l'heure. Pour une seule fois, écrivez {once}",
    each_second: "La seconde * s'exécute à chaque seconde de la minute. Pour une seule fois, écrivez {once}",
    days: "{written} recommence le 1er de chaque mois. {even} est régulier.",
    months: {
      one: "Le mois {written} recommence chaque année : du mois {last} au 1 suivant, il y a un mois.",
      other: "Le mois {written} recommence chaque année : du mois {last} au 1 suivant, il y a {n} mois.",
    },
    weekdays: {
      one:
        "Le jour de semaine {written} recommence chaque dimanche : du jour {last} au 0 suivant, " +
        "il y a un jour. Nommez les jours, comme MON,WED,FRI.",
      other:
        "Le jour de semaine {written} recommence chaque dimanche : du jour {last} au 0 suivant, " +
        "il y a {n} jours. Nommez les jours, comme MON,WED,FRI.",
    },
    wraps:
      "{field} {written} : {low} et après, et jusqu'à {high}. Pour les valeurs entre les deux, " +
      "écrivez {high}-{low}.",
    alone: "{field} {written} est {low} seul, car son pas est plus long que l'intervalle.",
    dates: "Un mois sans jour {day} est sauté. L est le dernier jour de chaque mois.",
    ending:
      "Les dates du calendrier {name} finissent le {day}. Les jours suivants n'ont pas de fériés : " +
      "déployez avec d'autres années.",
    needless: "except_at {written} n'exclut rien : ce n'est pas une heure de la cadence.",
    agrees: "croniter est d'accord, changements d'heure mis à part",
    disagrees: "croniter n'est pas d'accord",
    not_nearest: "Pas demandé : croniter ne connaît pas W ni L-n",
    not_beside: "Pas demandé : croniter ne lit bien le L et le # d'un jour de semaine que s'ils sont seuls",
    not_step: "Pas demandé : croniter arrête FRI/2 au samedi, alors que le jour 7 est encore à venir",
    not_range:
      "Pas demandé : croniter lit autrement un intervalle qui revient au début, ou d'une seule valeur",
  },
});
